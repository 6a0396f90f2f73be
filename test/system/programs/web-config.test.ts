import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ask } from '../../support/ask.ts';
import { makeCertificate } from '../../support/certificates.ts';
import { temporaryFolder } from '../../support/files.ts';
import { portOf, startExporter, startServe } from '../../support/program.ts';
import { startService } from '../../support/service.ts';
import { areMissing, OPENSSL } from '../../support/tools.ts';
import { basic, hashOf } from '../../support/web-config.ts';

const USERS = `basic_auth_users:\n  prometheus: ${hashOf('secret')}\n`;
const HEADERS = basic('prometheus', 'secret');
const ANY_PORT = '--web.listen-address=127.0.0.1:0';

function fileWith(text: string): string {
  const file = join(temporaryFolder(), 'web.yml');
  writeFileSync(file, text);
  return file;
}

/** With TLS too; the certificate is in a folder beside it. */
function secureFile(): string {
  const { cert, key } = makeCertificate();
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'tls'));
  writeFileSync(join(folder, 'tls/cert.pem'), cert);
  writeFileSync(join(folder, 'tls/key.pem'), key);
  const file = join(folder, 'web.yml');
  writeFileSync(file, `tls_server_config:\n  cert_file: tls/cert.pem\n  key_file: tls/key.pem\n${USERS}`);
  return file;
}

describe.concurrent('system/programs/web-config', () => {
  it('a broken file is one line per mistake with file and line, with 1, for every command that reads it', async () => {
    const file = fileWith('basic_auth_users:\n  a: plain\nrate_limits: {}\n');
    const config = fileWith(`web: {config_file: ${file}}\n`);
    for (const args of [
      ['serve', `--web.config.file=${file}`],
      ['serve', `--config.file=${config}`],
      ['--config.check', `--web.config.file=${file}`],
      ['check', `--config.file=${config}`],
      ['demo', ANY_PORT, `--web.config.file=${file}`],
      ['sandbox', ANY_PORT, `--web.config.file=${file}`],
    ]) {
      const program = startExporter(args, { BEACONCHAIN_API_KEY: 'key' });
      expect((await program.ended).code).toBe(1);
      expect(program.stdout).toBe('');
      expect(program.stderr.split('\n')).toEqual([
        expect.stringContaining(`${file}:2: basic_auth_users.a: expected a bcrypt hash`),
        `${file}:3: rate_limits: unknown key, did you mean rate_limit?`,
        '',
      ]);
    }
  });

  it.skipIf(areMissing(OPENSSL))('demo and sandbox serve as it says, from wherever they are started', async () => {
    const tls = { rejectUnauthorized: false };
    const demo = startExporter(['demo', ANY_PORT, '--log.format=json', `--web.config.file=${secureFile()}`]);
    const port = await portOf(demo);
    expect((await demo.line('demo: open the url'))['url']).toBe(`https://127.0.0.1:${port}`);
    expect((await ask(port, '/metrics', { tls })).status).toBe(401);
    expect((await ask(port, '/metrics', { tls, headers: HEADERS })).status).toBe(200);
    expect(await demo.stop()).toEqual({ code: 0, signal: null });

    const sandbox = startExporter(['sandbox', ANY_PORT, '--log.format=json', `--web.config.file=${secureFile()}`]);
    const { url } = await sandbox.line('simulated service');
    expect(url).toMatch(/^https:/);
    expect((await ask(Number(new URL(String(url)).port), '/', { tls })).status).toBe(401);
    expect(await sandbox.stop()).toEqual({ code: 0, signal: null });
  });

  it('a reload is behind the password, and refuses a broken file with what is wrong in the log', async () => {
    const api = await startService('key');
    const file = fileWith(USERS);
    const serve = startServe(
      `api: {base_url: "${api.url}"}\nchains: {mainnet: {v1_base_url: "${api.url}"}}\nweb: {config_file: ${file}}\n`,
      'key',
    );
    const port = await portOf(serve);
    const reload = async (headers = {}): Promise<number> =>
      (await ask(port, '/-/reload', { method: 'POST', headers })).status;
    expect(await reload()).toBe(401);
    expect(await reload(HEADERS)).toBe(200);
    writeFileSync(file, `${USERS}  broken: plain\n`);
    expect(await reload(HEADERS)).toBe(500);
    serve.child.kill('SIGHUP');
    expect((await serve.line('configuration not reloaded'))['err']).toContain('web.yml:3: basic_auth_users.broken');
    expect(serve.output).not.toContain('plain');
  });
});
