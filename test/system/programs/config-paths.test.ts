import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/files.ts';
import { portOf, SURROUNDINGS, start, startExporter } from '../../support/program.ts';
import { startService } from '../../support/service.ts';
import { hashOf } from '../../support/web-config.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');

/** A folder with a configuration. The program is started elsewhere. */
function folderWith(config: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'secrets'));
  for (const [name, text] of Object.entries({ ...files, 'config.yaml': config })) {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  }
  return folder;
}

async function check(folder: string) {
  const program = startExporter(['check', `--config.file=${folder}/config.yaml`]);
  const { code } = await program.ended;
  return { code, stdout: program.stdout, stderr: program.stderr };
}

describe.concurrent('system/programs/config-paths', () => {
  it('paths in the file are relative to the file, wherever the program is started', async () => {
    const { url } = await startService('the-key');
    const folder = folderWith(
      [
        `api: {base_url: "${url}", key_file: secrets/key.txt}`,
        `chains: {mainnet: {v1_base_url: "${url}"}}`,
        'state: {dir: ./state}',
        'web: {config_file: web.yml}',
      ].join('\n'),
      { 'secrets/key.txt': 'the-key\n', 'web.yml': `basic_auth_users:\n  me: ${hashOf('x')}\n` },
    );
    const program = startExporter([
      'serve',
      `--config.file=${folder}/config.yaml`,
      '--web.listen-address=127.0.0.1:0',
      '--log.format=json',
    ]);
    const port = await portOf(program);
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(401);
    expect(await program.stop()).toEqual({ code: 0, signal: null });
    expect(existsSync(join(folder, 'state/ledger.json'))).toBe(true);
  });

  it('without state.dir the state is in the working directory, and a flag is relative to it too', async () => {
    const folder = folderWith('log: {format: json}\n', { 'web.yml': 'rate_limit: {burst: many}\n' });
    const cwd = temporaryFolder();
    const env = { ...SURROUNDINGS, BEACONCHAIN_API_KEY: 'key' };
    const file = `--config.file=${folder}/config.yaml`;
    const program = start(process.execPath, [MAIN, file, '--web.listen-address=127.0.0.1:0'], { cwd, env });
    await portOf(program);
    await program.stop();
    expect(existsSync(join(cwd, 'beaconchain-exporter-state/ledger.json'))).toBe(true);
    const flagged = start(process.execPath, [MAIN, file, '--web.config.file=web.yml'], { cwd, env });
    expect((await flagged.ended).code).toBe(1);
    expect(flagged.stderr).toBe(`--web.config.file: the file ${cwd}/web.yml cannot be read: no such file\n`);
    const here = start(process.execPath, [MAIN, '--web.config.file=web.yml'], { cwd: folder, env });
    expect((await here.ended).code).toBe(1);
    expect(here.stderr).toBe(`${folder}/web.yml:1: rate_limit.burst: expected a whole number, got "many"\n`);
  });

  it('every file that cannot be read is named with the path that was tried, all at once', async () => {
    const folder = folderWith(
      [
        'api: {key_file: secrets/key.txt}',
        'web: {config_file: ../web.yml}',
        'state:',
        '  redis:',
        '    url: rediss://redis.invalid',
        '    tls: {ca_file: ca.pem, cert_file: cert.pem, key_file: secrets}',
      ].join('\n'),
    );
    const { code, stdout, stderr } = await check(folder);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const file = `${folder}/config.yaml`;
    expect(stderr.split('\n')).toEqual([
      `${file}:1: api.key_file: the file ${folder}/secrets/key.txt cannot be read: no such file`,
      `${file}:2: web.config_file: the file ${join(folder, '../web.yml')} cannot be read: no such file`,
      `${file}:6: state.redis.tls.ca_file: the file ${folder}/ca.pem cannot be read: no such file`,
      `${file}:6: state.redis.tls.cert_file: the file ${folder}/cert.pem cannot be read: no such file`,
      `${file}:6: state.redis.tls.key_file: the file ${folder}/secrets cannot be read: it is a directory`,
      '',
    ]);
  });

  it('a key in the place of the name of its file is not shown, the folder is', async () => {
    const folder = folderWith('api: {key_file: Zm9vYmFyMTIzNDU2Nzg5MA}\n');
    const { stderr } = await check(folder);
    expect(stderr).toBe(
      `${folder}/config.yaml:1: api.key_file: no such file in ${folder}; the file name is not shown, because it may be the key\n`,
    );
  });

  it('a config file that is not there is named with its folder', async () => {
    const program = startExporter(['check', '--config.file=config.yaml']);
    expect((await program.ended).code).toBe(1);
    expect(program.stderr).toMatch(/^config\.yaml: cannot be read: no such file \(\/.+\/config\.yaml\)\n$/);
  });
});
