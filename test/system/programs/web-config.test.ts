import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startService } from '../../support/faults/service.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { ask } from '../../support/network/ask.ts';
import { makeCertificate } from '../../support/network/certificates.ts';
import { asking, portOf, startServe } from '../../support/programs/program.ts';
import { areMissing, OPENSSL } from '../../support/tools/tools.ts';
import { basic, hashOf, tlsSection } from '../../support/web/web-config.ts';

const USERS = `basic_auth_users:\n  prometheus: ${hashOf('secret')}\n`;
const HEADERS = basic('prometheus', 'secret');

/** With TLS too; the certificate is in a folder next to it. */
function secureFile(): string {
  const { cert, key } = makeCertificate();
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'tls'));
  writeFileSync(join(folder, 'tls/cert.pem'), cert);
  writeFileSync(join(folder, 'tls/key.pem'), key);
  const file = join(folder, 'web.yml');
  writeFileSync(file, tlsSection({ certFile: 'tls/cert.pem', keyFile: 'tls/key.pem' }) + USERS);
  return file;
}

describe.concurrent('system/programs/web-config', () => {
  it.skipIf(areMissing(OPENSSL))('a reload takes other users, and says where only a restart helps', async () => {
    const api = await startService('key');
    const file = secureFile();
    const serve = startServe(`${asking(api.url)}web: {config_file: ${file}}\n`, 'key');
    const port = await portOf(serve);
    const text = readFileSync(file, 'utf8');
    const reload = async (next: string, headers = HEADERS): Promise<string> => {
      writeFileSync(file, next);
      const tls = { rejectUnauthorized: false };
      return (await ask(port, '/-/reload', { method: 'POST', headers, tls })).body.toString();
    };
    const other = text.replace('tls_server_config:\n', 'tls_server_config:\n  client_auth_type: RequestClientCert\n');
    expect(await reload(other)).toBe(
      'not reloaded: tls_server_config.client_auth_type has changed: this requires a restart\n',
    );
    expect(await reload(USERS)).toBe(
      'not reloaded: TLS on or off, tls_server_config.client_auth_type have changed: this requires a restart\n',
    );
    const otherUser = basic('prometheus', 'other');
    expect(await reload(text.replace(USERS, `basic_auth_users: {prometheus: "${hashOf('other')}"}`))).toBe(
      'reloaded\n',
    );
    expect(await reload(text, HEADERS)).toBe('Unauthorized\n');
    expect(await reload(text, otherUser)).toBe('reloaded\n');
  });
});
