import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { pino } from 'pino';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { STATE_VERSION } from '../../../src/facts/version.ts';
import { systemClock } from '../../../src/toolkit/lib/clock.ts';
import type { RedisSettings } from '../../../src/toolkit/state/redis.ts';
import { Replica } from '../../../src/toolkit/state/replica.ts';
import { seriesValue } from '../../support/exposition/exposition-text.ts';
import { startService } from '../../support/faults/service.ts';
import { configFile } from '../../support/files/files.ts';
import { scrape } from '../../support/network/ask.ts';
import { type Certificate, makeCertificate } from '../../support/network/certificates.ts';
import { freePort } from '../../support/network/ports.ts';
import { asking, portOf, startExporter, startServe, waitFor } from '../../support/programs/program.ts';
import { type RedisServer, startRedis } from '../../support/tools/redis.ts';
import { areMissing, OPENSSL, REDIS } from '../../support/tools/tools.ts';

const KEY = 'a-key-that-nobody-may-see';
const PASSWORD = 'pass/word#that?nobody@may:see';

function config(url: string, redis: string): string {
  return `${asking(url)}state: {redis: ${redis}}\n`;
}

const NAMES = { prefix: 'beaconchain', section: 'state.redis', manual: 'docs/high-availability.md' };

/** Why the program does not start with this state. */
async function refusal(settings: Pick<RedisSettings, 'url' | 'password'>): Promise<string> {
  const opened = Replica.open({ ...NAMES, ...settings }, systemClock, pino({ enabled: false }), {
    version: STATE_VERSION,
  });
  return opened.then(
    () => expect.fail('not refused'),
    ({ message }: Error) => message,
  );
}

// The texts of Redis 7.0, to a client on another host, with `maxclients 1` and with `min-replicas-to-write 1`.
it.each([
  [
    'DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user.',
    'DENIED, the server is in protected mode: give it a password, and set state.redis.password',
  ],
  ['ERR max number of clients reached', 'ERR, the server has as many clients as it accepts: check maxclients'],
  [
    'NOREPLICAS Not enough good replicas to write.',
    'NOREPLICAS, too few standbys of the server are connected: check min-replicas-to-write',
  ],
])('system/programs/redis: explains a server that says %s', async (text, why) => {
  const server = createServer((socket) => socket.on('data', () => socket.write(`-${text}\r\n`)));
  onTestFinished(() => void server.close());
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  expect(await refusal({ url: `redis://127.0.0.1:${port}` })).toBe(`the state in Redis cannot be used: ${why}`);
});

describe.skipIf(areMissing(REDIS, OPENSSL))('system/programs/redis', () => {
  let plain: RedisServer;
  beforeAll(async () => {
    plain = await startRedis(['--save', '']);
  });

  it('names an unreachable server in one line, without the URL', async () => {
    const port = await freePort();
    const program = startServe(config('http://127.0.0.1:1', `{url: "redis://:${KEY}@127.0.0.1:${port}"}`), KEY);
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.stderr).toBe('the state in Redis cannot be used: ECONNREFUSED\n');
    expect(program.output).not.toContain(KEY);
    expect(program.output).not.toContain('redis://');
  });

  // The order matters, because each row leaves the server worse than the one before.
  it.each<[string, string[], string]>([
    [
      'with keys of another program under its prefix',
      ['SET', 'beaconchain:revisions', 'x'],
      'WRONGTYPE, another program uses these key names: choose another state.redis.prefix',
    ],
    [
      'whose user may not write',
      ['ACL', 'SETUSER', 'default', '-@write'],
      'NOPERM, the user lacks a permission: docs/high-availability.md lists the permissions it needs',
    ],
    [
      'that wants a password',
      ['CONFIG', 'SET', 'requirepass', PASSWORD],
      'NOAUTH, a password is required: set state.redis.password',
    ],
  ])('refuses a server %s in one line', async (_, spoil, why) => {
    await plain.command(...spoil);
    expect(await refusal({ url: plain.url })).toBe(`the state in Redis cannot be used: ${why}`);
  });

  it('refuses a wrong password in one line', async () => {
    expect(await refusal({ url: plain.url, password: 'other' })).toBe(
      'the state in Redis cannot be used: WRONGPASS, the user or the password is wrong',
    );
  });

  it('refuses a cluster, and says what is supported', async () => {
    // By default the port of the bus is 10,000 higher, where a connection may be.
    const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())];
    const redis = await startRedis(['--save', '', ...cluster]);
    await redis.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await waitFor(async () => expect(await redis.command('CLUSTER', 'INFO')).toContain('cluster_state:ok'));
    expect(await refusal({ url: redis.url })).toMatch(
      /the server is a cluster: only a single server, or a primary with standbys behind one address, is supported$/,
    );
  });

  it('refuses a standby in one line', async () => {
    const primary = await startRedis(['--save', '', '--repl-diskless-sync-delay', '0']);
    const standby = await startRedis(['--save', '', '--replicaof', '127.0.0.1', String(primary.port)]);
    await waitFor(async () => expect(await standby.command('INFO', 'replication')).toContain('link_status:up'));
    expect(await refusal({ url: standby.url })).toBe(
      'the state in Redis cannot be used: READONLY, the server is a standby: state.redis.url must point to the primary',
    );
  });

  describe('over TLS', () => {
    let certificate: Certificate;
    let url: string;
    let redis: RedisServer;
    beforeAll(async () => {
      certificate = makeCertificate({ names: 'DNS:localhost' });
      const port = await freePort();
      const files = ['--tls-cert-file', certificate.certFile, '--tls-key-file', certificate.keyFile];
      redis = await startRedis(['--save', '', '--tls-port', String(port), ...files, '--tls-auth-clients', 'no']);
      url = `rediss://localhost:${port}`;
    });

    it('refuses an untrusted certificate, and names the variable to set', async () => {
      expect(await refusal({ url })).toBe(
        'the state in Redis cannot be used: DEPTH_ZERO_SELF_SIGNED_CERT, the certificate of the server is not trusted: set NODE_EXTRA_CA_CERTS',
      );
    });

    it('works with the documented permissions and any characters in the password', async () => {
      const docs = readFileSync('docs/high-availability.md', 'utf8');
      const rights = /ACL SETUSER exporter on >\.\.\. ([^`]+)`/.exec(docs)?.[1] ?? '';
      await redis.command('ACL', 'SETUSER', 'exporter', 'on', `>${PASSWORD}`, ...rights.split(' '));
      const api = await startService(KEY);
      const settings = `{url: "${url.replace('//', '//exporter@')}", password: "${PASSWORD}"}`;
      const text = config(api.url, settings);
      const trust = { NODE_EXTRA_CA_CERTS: certificate.certFile };
      const program = startServe(text, KEY, trust);
      const port = await portOf(program);
      await waitFor(async () => {
        expect(seriesValue(await scrape(port), 'beaconchain_source_up', { source: 'machines' })).toBe(1);
      });
      const file = configFile(text);
      // The limits are written within five seconds.
      await waitFor(async () => {
        const check = startExporter(['check', `--config.file=${file}`], { BEACONCHAIN_API_KEY: KEY, ...trust });
        expect(await check.ended).toEqual({ code: 0, signal: null });
        expect(check.stdout).toContain('as last reported to the exporter');
      });
      expect(await program.stop()).toEqual({ code: 0, signal: null });
      expect(program.output).not.toContain(PASSWORD);
      expect(program.output).not.toContain('rediss://');
    });
  });
});
