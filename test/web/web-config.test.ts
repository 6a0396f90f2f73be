import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/mistakes.ts';
import { readWebConfig } from '../../src/web/web-config.ts';
import { makeCertificate } from '../support/certificates.ts';
import { temporaryFolder } from '../support/files.ts';
import { areMissing, OPENSSL } from '../support/tools.ts';

const isSkipped = areMissing(OPENSSL);
const PAIR = '  cert_file: server.crt\n  key_file: server.key\n';
const TLS = `tls_server_config:\n${PAIR}`;
const SUITE = 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256';
/** A hash of nothing in particular, in the right shape. */
const HASH = `$2y$10$${'a'.repeat(53)}`;

const folder = isSkipped ? '' : folderWithCertificates();

/** With a server's certificate and key, a client's, and another key; web configs come beside them. */
function folderWithCertificates(): string {
  const path = temporaryFolder();
  const [server, client] = [makeCertificate(), makeCertificate()];
  copyFileSync(server.certFile, join(path, 'server.crt'));
  copyFileSync(server.keyFile, join(path, 'server.key'));
  copyFileSync(client.certFile, join(path, 'client.crt'));
  copyFileSync(client.keyFile, join(path, 'other.key'));
  const indented = (text: string): string => text.trim().replaceAll('\n', '\n    ');
  writeFileSync(
    join(path, 'inline.yml'),
    `tls_server_config:\n  cert: |\n    ${indented(server.cert)}\n  key: |\n    ${indented(server.key)}\n`,
  );
  return path;
}

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

describe.skipIf(isSkipped)('web/web-config', () => {
  // The first column is the file of the same case among the toolkit's own, web/testdata/web_config_* and tls_config_*.
  it.each([
    ['empty', ''],
    ['noAuth.good', `${TLS}  client_auth_type: VerifyClientCertIfGiven\n`],
    ['noAuth.good.blocking', `${TLS}  client_auth_type: RequireAndVerifyClientCert\n`],
    ['auth_clientCAs_missing.bad, which is the same', `${TLS}  client_auth_type: RequireAndVerifyClientCert\n`],
    [
      'noAuth_allCiphers.good',
      `${TLS}  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256,
    TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
    TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA]\n`,
    ],
    ['noAuth_someCiphers.good', `${TLS}  cipher_suites: [${SUITE}]\n  min_version: TLS12\n  max_version: TLS12\n`],
    [
      'noAuth_someCiphers_noOrder.good',
      `${TLS}  cipher_suites: [${SUITE}]\n  prefer_server_cipher_suites: false\n  max_version: TLS12\n`,
    ],
    ['noAuth_allCurves.good', `${TLS}  curve_preferences: [CurveP256, CurveP384, CurveP521, X25519]\n`],
    ['noAuth_someCurves.good', `${TLS}  min_version: TLS13\n  curve_preferences: [CurveP521]\n`],
    [
      'noAuth_noHTTP2.good',
      `${TLS}  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]\n  max_version: TLS12\nhttp_server_config:\n  http2: false\n`,
    ],
    ['requireanyclientcert.good', `${TLS}  client_auth_type: RequireAnyClientCert\n`],
    ['its older name', `${TLS}  client_auth_type: RequireClientCert\n`],
    [
      'requireandverifyclientcert.good',
      `${TLS}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: client.crt\n`,
    ],
    [
      'auth_client_san.good and .bad: a matter of the client',
      `${TLS}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: client.crt\n  client_allowed_sans: [one, two]\n`,
    ],
    [
      'headers.good',
      `http_server_config:
  headers:
    X-Frame-Options: deny
    Strict-Transport-Security: max-age=31536000; includeSubDomains
    X-Content-Type-Options: nosniff
    X-XSS-Protection: 1
    Content-Security-Policy: "default-src 'self' *.example.net"
`,
    ],
    ['rate_limiter_nonblocking', 'rate_limit:\n  interval: 0\n  burst: 0\n'],
    ['rate_limiter_one_second', 'rate_limit:\n  interval: "1s"\n  burst: 0\n'],
    ['users.good', `${TLS}basic_auth_users:\n  alice: ${HASH}\n  bob: ${HASH.replace('10', '18')}\n  7: ${HASH}\n`],
    ['users_noTLS.good', `basic_auth_users:\n  alice: ${HASH}\n`],
    ['sections with nothing in them', 'tls_server_config:\nhttp_server_config: {}\nbasic_auth_users:\nrate_limit:\n'],
    ['texts that look like variables', `http_server_config: {headers: {X-XSS-Protection: "\${HOME}"}}\n`],
  ])('%s is accepted', async (_name, text) => {
    expect(await mistakesIn(text)).toEqual([]);
  });

  it('noAuth_tlsInline.good and requireanyclientcertkeyinline.good are accepted', async () => {
    const { tls } = await readWebConfig(join(folder, 'inline.yml'));
    expect(tls?.context.cert).toContain('BEGIN CERTIFICATE');
    const key = String(tls?.context.key).trim().replaceAll('\n', '\n    ');
    expect(await mistakesIn(`tls_server_config:\n  cert_file: server.crt\n  key: |\n    ${key}\n`)).toEqual([]);
  });

  it('a path that leads nowhere is refused', async () => {
    await expect(readWebConfig(join(folder, 'somefile'))).rejects.toThrow('somefile: cannot be read: no such file');
  });

  it.each([
    ['junk', 'hWkNKCp3fvIx3jKnsaBI\nTuEjdwNS8A2vYdFbiKqr\n', [':1: expected a mapping, got a single value']],
    [
      'junk_key',
      'tls_server_config:\n  cert_filse: "server.crt"\n',
      [
        ':1: tls_server_config.cert_file: missing one of cert or cert_file',
        ':1: tls_server_config.key_file: missing one of key or key_file',
        ':2: tls_server_config.cert_filse: unknown key, did you mean cert_file?',
      ],
    ],
    [
      'noAuth_certPath_empty.bad',
      'tls_server_config:\n  cert_file: ""\n  key_file: server.key\n',
      [':2: tls_server_config.cert_file: missing one of cert or cert_file'],
    ],
    [
      'noAuth_cert_empty.bad',
      'tls_server_config:\n  cert: ""\n  key_file: server.key\n',
      [':2: tls_server_config.cert: missing one of cert or cert_file'],
    ],
    [
      'noAuth_keyPath_empty.bad',
      'tls_server_config:\n  cert_file: server.crt\n  key_file: ""\n',
      [':3: tls_server_config.key_file: missing one of key or key_file'],
    ],
    [
      'noAuth_key_empty.bad',
      'tls_server_config:\n  cert_file: server.crt\n  key: ""\n',
      [':3: tls_server_config.key: missing one of key or key_file'],
    ],
    [
      'noAuth_certPath_keyPath_empty.bad',
      'tls_server_config:\n  cert_file: ""\n  key_file: ""\n  client_auth_type: "x"\n',
      [
        ':2: tls_server_config.cert_file: missing one of cert or cert_file',
        ':3: tls_server_config.key_file: missing one of key or key_file',
        ':4: tls_server_config.client_auth_type: expected NoClientCert, RequestClientCert, RequireAnyClientCert, RequireClientCert, VerifyClientCertIfGiven or RequireAndVerifyClientCert, got "x"',
      ],
    ],
    [
      'noAuth_certPath_invalid.bad',
      'tls_server_config:\n  cert_file: somefile\n  key_file: server.key\n',
      [':2: tls_server_config.cert_file: the file FOLDER/somefile cannot be read: no such file'],
    ],
    [
      'noAuth_keyPath_invalid.bad and noAuth_certPath_keyPath_invalid.bad',
      'tls_server_config:\n  cert_file: server.cert\n  key_file: somefile\n',
      [
        ':2: tls_server_config.cert_file: the file FOLDER/server.cert cannot be read: no such file',
        ':3: tls_server_config.key_file: the file FOLDER/somefile cannot be read: no such file',
      ],
    ],
    [
      'noAuth.bad',
      `${TLS}  client_ca_file: "/dev/null"\n`,
      [
        ':4: tls_server_config.client_ca_file: clients are not asked for a certificate: set client_auth_type, for example to RequireAndVerifyClientCert',
      ],
    ],
    [
      'auth_clientCAs_invalid.bad',
      `${TLS}  client_auth_type: RequestClientCert\n  client_ca_file: somefile\n`,
      [':5: tls_server_config.client_ca_file: the file FOLDER/somefile cannot be read: no such file'],
    ],
    [
      'auth_user_list_invalid.bad',
      `${TLS}basic_auth_users:\n  john: doe\n`,
      [
        ':5: basic_auth_users.john: expected a bcrypt hash of the password, as printed by `htpasswd -nBC 10 "" | tr -d ":\\n"`',
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
      'a suite that Go calls insecure',
      `${TLS}  cipher_suites: [${SUITE}, TLS_RSA_WITH_RC4_128_SHA]\n`,
      [
        expect.stringMatching(
          /^:4: tls_server_config\.cipher_suites\[1\]: expected one of .* "TLS_RSA_WITH_RC4_128_SHA"$/,
        ),
      ],
    ],
    [
      'noAuth_inventedCurves.bad',
      `${TLS}  curve_preferences: [CurveP257]\n`,
      [
        ':4: tls_server_config.curve_preferences[0]: expected CurveP256, CurveP384, CurveP521 or X25519, got "CurveP257"',
      ],
    ],
    [
      'noAuth_wrongTLSVersion.bad',
      `${TLS}  min_version: TLS111\n`,
      [':4: tls_server_config.min_version: expected TLS10, TLS11, TLS12 or TLS13, got "TLS111"'],
    ],
    [
      'headers_content_type_options.bad',
      'http_server_config:\n  headers:\n    X-Content-Type-Options: sniff\n',
      [':3: http_server_config.headers.X-Content-Type-Options: expected nosniff, got "sniff"'],
    ],
    [
      'headers_frame_options.bad',
      'http_server_config:\n  headers:\n    X-Frame-Options: foo\n',
      [':3: http_server_config.headers.X-Frame-Options: expected deny or sameorigin, got "foo"'],
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
      'a certificate and a key that are no pair',
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
      'a certificate in two places',
      `${TLS}  cert: x\n`,
      [':2: tls_server_config.cert_file: cert is set too, expected only one of the two'],
    ],
    [
      'a CA that is none',
      `${TLS}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: server.key\n`,
      [':5: tls_server_config.client_ca_file: expected certificates in PEM'],
    ],
    [
      'names of clients who are not asked',
      `${TLS}  client_allowed_sans: [one]\n`,
      [expect.stringContaining(':4: tls_server_config.client_allowed_sans: clients are not asked for a certificate')],
    ],
    [
      'versions the wrong way round',
      `${TLS}  min_version: TLS13\n  max_version: TLS12\n`,
      [':5: tls_server_config.max_version: no TLS version is allowed: the minimum is TLS13, the maximum TLS12'],
    ],
    [
      'a certificate alone',
      'tls_server_config:\n  cert_file: server.crt\n',
      [expect.stringContaining('missing one of key')],
    ],
    [
      'TLS settings without a certificate',
      'tls_server_config: {min_version: TLS13}\n',
      [expect.stringContaining('missing one of cert'), expect.stringContaining('missing one of key')],
    ],
    [
      'a user twice',
      `basic_auth_users:\n  a: ${HASH}\n  a: ${HASH}\n`,
      [':3: basic_auth_users.a: the key is given twice'],
    ],
    [
      'an interval without a unit',
      'rate_limit: {interval: 5, burst: 1}\n',
      [':1: rate_limit.interval: expected a duration such as 1s or 100ms, got 5'],
    ],
    [
      'a negative burst',
      'rate_limit: {interval: 1s, burst: -1}\n',
      [':1: rate_limit.burst: expected a whole number of at least 0, got -1'],
    ],
    [
      'a header that would be two',
      'http_server_config:\n  headers:\n    X-XSS-Protection: "a\\r\\nb"\n',
      [':3: http_server_config.headers.X-XSS-Protection: expected a valid header value'],
    ],
    ['YAML that is none', 'tls_server_config: [\n', [expect.stringMatching(/^:1: /)]],
  ])('%s is refused', async (_name, text, expected) => {
    expect(await mistakesIn(text)).toEqual(expected);
  });

  it('shows nothing that may be a secret', async () => {
    const told = await mistakesIn(
      'tls_server_config:\n  cert: SECRET\n  key: SECRET\nbasic_auth_users:\n  a: SECRET\n  b: [SECRET]\n',
    );
    expect(told).toHaveLength(4);
    expect(told.join()).not.toContain('SECRET');
  });
});
