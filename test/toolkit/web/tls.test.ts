import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { dirname, join } from 'node:path';
import { type ConnectionOptions, connect } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/toolkit/lib/clock.ts';
import { SERVER_LIMITS } from '../../../src/toolkit/web/server.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { ask } from '../../support/network/ask.ts';
import { type Certificate, makeCertificate } from '../../support/network/certificates.ts';
import { waitFor } from '../../support/programs/program.ts';
import { MINUTE } from '../../support/time/timing.ts';
import { areMissing, OPENSSL } from '../../support/tools/tools.ts';
import { BODY, type Guarded, replaceFile, serveGuarded, tlsSection } from '../../support/web/web-config.ts';

function makeAll() {
  const authority = makeCertificate({ names: 'DNS:authority' });
  return {
    server: makeCertificate(),
    authority,
    client: makeCertificate({
      names: 'DNS:one,IP:10.0.0.1,IP:fe80::1,URI:spiffe://a/b,email:a@b.c',
      issuer: authority,
    }),
    stranger: makeCertificate({ names: 'DNS:one' }),
  };
}

let made: ReturnType<typeof makeAll>;

/** A server with the certificate, and what more is set. */
function serve(more = ''): Promise<Guarded> {
  return serveGuarded(tlsSection(made.server, more));
}

/** The status for a client, or why there is no connection. */
async function outcome(port: number, tls: ConnectionOptions = {}): Promise<number | string> {
  try {
    return (await ask(port, '/metrics', { tls: { rejectUnauthorized: false, ...tls } })).status;
  } catch (error) {
    return String(error instanceof Error && 'code' in error ? error.code : error);
  }
}

function withCertificate({ cert, key }: Certificate): ConnectionOptions {
  return { cert, key };
}

/** The certificate, cipher or group of a handshake. */
async function shaken<T>(port: number, tls: ConnectionOptions, what: (socket: ReturnType<typeof connect>) => T) {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...tls });
  await once(socket, 'secureConnect');
  const result = what(socket);
  socket.destroy();
  return result;
}

describe.skipIf(areMissing(OPENSSL)).concurrent('web/tls', () => {
  beforeAll(() => {
    made = makeAll();
  });

  it('never answers a client without TLS', async () => {
    const { port } = await serve();
    await expect(ask(port, '/metrics')).rejects.toThrow(/ECONNRESET|socket hang up/);
  });

  it.each([
    ['TLS 1.1 unless configured', '', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }],
    [
      'a suite that is not among those chosen',
      '  max_version: TLS12\n  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]\n',
      { ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384' },
    ],
  ] as const)('refuses %s', async (_name, more, tls) => {
    const { port } = await serve(more);
    expect(await outcome(port, tls)).toMatch(/^(EPROTO|ECONNRESET|ERR_SSL_)/);
  });

  describe('clients', () => {
    const refused = 'ECONNRESET';
    it.each([
      ['NoClientCert', 200, 200, 200],
      ['RequestClientCert', 200, 200, 200],
      ['RequireAnyClientCert', refused, 200, 200],
      ['VerifyClientCertIfGiven', 200, refused, 200],
      ['RequireAndVerifyClientCert', refused, refused, 200],
    ])(
      '%s: without a certificate %s, with an unknown one %s, with a known one %s',
      async (type, none, unknown, known) => {
        const { stranger, client, authority } = made;
        const ca = type === 'NoClientCert' ? '' : `  client_ca_file: ${authority.certFile}\n`;
        const { port } = await serve(`  client_auth_type: ${type}\n${ca}`);
        expect([
          await outcome(port),
          await outcome(port, withCertificate(stranger)),
          await outcome(port, withCertificate(client)),
        ]).toEqual([none, unknown, known]);
      },
    );

    it('without a CA no certificate is valid', async () => {
      const { port } = await serve('  client_auth_type: RequireAndVerifyClientCert\n');
      expect(await outcome(port, withCertificate(made.client))).toBe('ECONNRESET');
    });

    it.each([
      ['one', 200],
      ['ONE', refused],
      ['on', refused],
    ])('with the allowed name %s: %s', async (name, expected) => {
      const { authority, client } = made;
      const { port } = await serve(
        `  client_auth_type: VerifyClientCertIfGiven\n  client_ca_file: ${authority.certFile}\n  client_allowed_sans: [other, "${name}"]\n`,
      );
      expect(await outcome(port)).toBe(refused);
      expect(await outcome(port, withCertificate(client))).toBe(expected);
    });
  });

  describe('while it runs', () => {
    /** A server whose certificate is in files of its own. */
    async function serveOwnFiles() {
      const { server } = made;
      const guarded = await serveGuarded(
        `tls_server_config:\n  cert: ${JSON.stringify(server.cert)}\n  key: ${JSON.stringify(server.key)}\n`,
      );
      const replace = ({ cert, key }: Certificate): void => {
        replaceFile(join(guarded.folder, 'cert.pem'), cert);
        replaceFile(join(guarded.folder, 'key.pem'), key);
      };
      replace(server);
      const text = tlsSection({ certFile: 'cert.pem', keyFile: 'key.pem' });
      await guarded.reload(text);
      return { ...guarded, replace, reload: (more = '') => guarded.reload(text + more) };
    }

    const fingerprint = (port: number): Promise<string> =>
      shaken(port, {}, (socket) => socket.getPeerCertificate().fingerprint256);

    it('serves a renewed certificate after a reload, and keeps open connections', async () => {
      const { port, replace, reload } = await serveOwnFiles();
      const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
      const tls = { rejectUnauthorized: false };
      expect((await ask(port, '/metrics', { tls, agent })).status).toBe(200);
      const before = await fingerprint(port);
      const next = makeCertificate();
      replace(next);
      expect(await fingerprint(port)).toBe(before);
      await reload();
      expect(await shaken(port, {}, (socket) => socket.getPeerX509Certificate()?.toString())).toBe(
        new X509Certificate(next.cert).toString(),
      );
      expect((await ask(port, '/metrics', { tls, agent })).status).toBe(200);
      agent.destroy();
    });

    it('serves a certificate within a minute after its symbolic link was changed', async () => {
      const folder = temporaryFolder();
      const link = (to: string): void => {
        symlinkSync(to, join(folder, '..next'));
        renameSync(join(folder, '..next'), join(folder, '..data'));
      };
      const next = makeCertificate();
      link(dirname(made.server.certFile));
      const naps: (() => void)[] = [];
      const sleep = (ms: number): Promise<void> => {
        expect(ms).toBeLessThanOrEqual(MINUTE);
        return new Promise((resolve) => naps.push(resolve));
      };
      const text = tlsSection({ certFile: `${folder}/..data/cert.pem`, keyFile: `${folder}/..data/key.pem` });
      const { port } = await serveGuarded(text, BODY, SERVER_LIMITS, { ...systemClock, sleep });
      const before = await fingerprint(port);
      writeFileSync(join(dirname(next.certFile), 'key.pem'), made.server.key);
      link(dirname(next.certFile));
      const passMinute = async (): Promise<void> => {
        naps.pop()?.();
        await waitFor(() => expect(naps).toHaveLength(1));
      };
      await passMinute();
      expect(await fingerprint(port), 'a certificate without its key').toBe(before);
      writeFileSync(next.keyFile, next.key);
      await passMinute();
      expect(await fingerprint(port)).toBe(new X509Certificate(next.cert).fingerprint256);
    });
  });

  it('sends the whole of a large answer', async () => {
    const body = `${BODY.repeat(20_000)}# EOF\n`;
    const { port } = await serveGuarded(tlsSection(made.server), body);
    expect(String((await ask(port, '/metrics', { tls: { rejectUnauthorized: false } })).body)).toBe(body);
  });

  it('closes at once, whoever is connected', async () => {
    // Longer than the test may take: no limit closes them.
    const limits = { ...SERVER_LIMITS, headersTimeout: 3_600_000, requestTimeout: 3_600_000 };
    const { port, server } = await serveGuarded(tlsSection(made.server), BODY, limits);
    const idle = connectPlain(port, '127.0.0.1');
    await once(idle, 'connect');
    const half = connectPlain(port, '127.0.0.1');
    await new Promise<void>((resolve) => half.write(Buffer.from([22, 3, 1]), () => resolve()));
    const ready = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    await once(ready, 'secureConnect');
    const closed = [idle, half, ready].map((socket) => {
      socket.on('error', () => undefined).resume();
      return once(socket, 'close');
    });
    await server.close();
    await Promise.all(closed);
  });
});
