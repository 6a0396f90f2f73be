import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readWebConfig } from '../../../src/toolkit/web/web-config.ts';
import { ConfigError } from '../../../src/toolkit/yaml/mistakes.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { makeCertificate } from '../../support/network/certificates.ts';
import { areMissing, OPENSSL } from '../../support/tools/tools.ts';

const PAIR = '  cert_file: server.crt\n  key_file: server.key\n';
const TLS = `tls_server_config:\n${PAIR}`;
const SUITE = 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256';
/** A hash of nothing in particular, in the right shape. */
const HASH = `$2y$10$${'a'.repeat(53)}`;

/** With a server's certificate and key, and another key; web configs are next to them. */
const folder = temporaryFolder();

/** What is wrong with this text as a web config, line by line; empty: nothing. */
async function mistakesIn(text: string): Promise<string[]> {
  const file = join(folder, 'web.yml');
  writeFileSync(file, text);
  try {
    await readWebConfig(file);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n').map((line) => line.replace(file, '').replace(folder, 'FOLDER'));
  }
}

describe.skipIf(areMissing(OPENSSL))('web/web-config', () => {
  beforeAll(() => {
    const server = makeCertificate();
    copyFileSync(server.certFile, join(folder, 'server.crt'));
    copyFileSync(server.keyFile, join(folder, 'server.key'));
    copyFileSync(makeCertificate().keyFile, join(folder, 'other.key'));
  });

  // The first column names the same case of Prometheus' exporter-toolkit: web/testdata/web_config_* and tls_config_*.
  it.each([
    ['empty', ''],
    ['noAuth.good', `${TLS}  client_auth_type: VerifyClientCertIfGiven\n`],
    ['noAuth_someCiphers.good', `${TLS}  cipher_suites: [${SUITE}]\n  min_version: TLS12\n  max_version: TLS12\n`],
    ['noAuth_allCurves.good', `${TLS}  curve_preferences: [CurveP256, CurveP384, CurveP521, X25519]\n`],
    ['users.good', `${TLS}basic_auth_users:\n  alice: ${HASH}\n  bob: ${HASH.replace('10', '18')}\n  7: ${HASH}\n`],
    ['sections with nothing in them', 'tls_server_config:\nhttp_server_config: {}\nbasic_auth_users:\n'],
    ['texts that look like variables', `http_server_config: {headers: {X-XSS-Protection: "\${HOME}"}}\n`],
  ])('%s is accepted', async (_name, text) => {
    expect(await mistakesIn(text)).toEqual([]);
  });

  it.each([
    ['junk', 'hWkNKCp3fvIx3jKnsaBI\nTuEjdwNS8A2vYdFbiKqr\n', [':1: expected a mapping, got a single value']],
    [
      'noAuth_certPath_empty.bad',
      'tls_server_config:\n  cert_file: ""\n  key_file: server.key\n',
      [':2: tls_server_config.cert_file: missing one of cert or cert_file'],
    ],
    [
      'noAuth.bad',
      `${TLS}  client_ca_file: "/dev/null"\n`,
      [
        ':4: tls_server_config.client_ca_file: clients are not asked for a certificate: set client_auth_type, for example to RequireAndVerifyClientCert',
      ],
    ],
    [
      'noAuth_inventedCiphers.bad',
      `${TLS}  cipher_suites:\n  - TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA2048\n`,
      [
        expect.stringMatching(
          /^:5: tls_server_config\.cipher_suites\[0\]: expected one of TLS_AES_128_GCM_SHA256, .*, got "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA2048"$/,
        ),
      ],
    ],
    [
      'headers_extra_header.bad',
      'http_server_config:\n  headers:\n    Content-Type: foo\n',
      [
        ':3: http_server_config.headers.Content-Type: unknown key, expected one of Content-Security-Policy, X-Frame-Options, X-Content-Type-Options, X-XSS-Protection, Strict-Transport-Security',
      ],
    ],
    // Cases of our own.
    [
      'a key of another certificate',
      'tls_server_config: {cert_file: server.crt, key_file: other.key}\n',
      [':1: tls_server_config.key_file: the key does not match the certificate'],
    ],
    [
      'files in each other’s place',
      'tls_server_config: {cert_file: server.key, key_file: server.crt}\n',
      [
        ':1: tls_server_config.cert_file: expected a certificate in PEM',
        ':1: tls_server_config.key_file: expected a private key in PEM, without a passphrase',
      ],
    ],
    [
      'a highest version below the lowest one',
      `${TLS}  min_version: TLS13\n  max_version: TLS12\n`,
      [':5: tls_server_config.max_version: expected at least min_version, which is TLSv1.3'],
    ],
    [
      'a highest version below the lowest one by default',
      `${TLS}  max_version: TLS11\n`,
      [':4: tls_server_config.max_version: expected at least min_version, which is TLSv1.2'],
    ],
    ['invalid YAML', 'tls_server_config: [\n', [expect.stringMatching(/^:1: /)]],
  ])('%s is refused', async (_name, text, expected) => {
    expect(await mistakesIn(text)).toEqual(expected);
  });

  it('shows nothing that may be a secret', async () => {
    const told = await mistakesIn(
      'tls_server_config:\n  cert: SECRET\n  key: SECRET\nbasic_auth_users:\n  a: SECRET\n  b: [SECRET]\n',
    );
    expect(told).toHaveLength(4);
    expect([...told, ...(await mistakesIn('basic_auth_users: a SECRET\n'))].join()).not.toContain('SECRET');
  });
});
