import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/files/files.ts';
import { ANY_PORT, MAIN, portOf, ran, SURROUNDINGS, start, startExporter } from '../../support/programs/program.ts';

const KEY = 'a-key-that-nobody-may-see';

function folderWith(config: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries({ ...files, 'config.yaml': config }))
    writeFileSync(join(folder, name), text);
  return folder;
}

async function run(command: string, folder: string, env: NodeJS.ProcessEnv = { BEACONCHAIN_API_KEY: KEY }) {
  const { stderr, ...ended } = await ran([command, `--config.file=${folder}/config.yaml`], env);
  return { ...ended, stderr: stderr.replaceAll(folder, 'FOLDER') };
}

/** All that is below a folder. */
function contentOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}

describe.concurrent('system/programs/check-mistakes', () => {
  it('check reports the mistakes of all files at once, with their full paths', async () => {
    const folder = folderWith(
      [
        'api: {key_file: key.txt}',
        'machines: {intervall: 1m}',
        'web: {config_file: web.yml}',
        'validators: {watch: [9999999999]}',
      ].join('\n'),
      {
        'key.txt': 'two words\n',
        'web.yml': 'tls_server_config: {cert_file: cert.pem}\nbasic_auth_users: {me: plain}\nrate_limit: {burst: 3}\n',
      },
    );
    const { code, stdout, stderr } = await run('check', folder, {});
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      'FOLDER/config.yaml:1: api.key_file: expected FOLDER/key.txt to contain an API key of printable ASCII characters without spaces',
      expect.stringMatching(
        /^FOLDER\/config.yaml:2: machines.intervall: unknown key, did you mean interval\? Expected one of enabled, /,
      ),
      'FOLDER/config.yaml:4: validators.watch[0]: expected validator indices of at most 2147483646',
      'FOLDER/web.yml:1: tls_server_config.key_file: missing one of key or key_file',
      'FOLDER/web.yml:1: tls_server_config.cert_file: the file FOLDER/cert.pem cannot be read: no such file',
      expect.stringMatching(/^FOLDER\/web\.yml:2: basic_auth_users\.me: expected a bcrypt hash/),
      'FOLDER/web.yml:3: rate_limit: unknown key, expected one of tls_server_config, http_server_config, basic_auth_users',
      '',
    ]);
  });

  it.each(['check', 'serve'])('%s refuses a FIFO in place of a file', async (command) => {
    const folder = folderWith('web: {config_file: web.yml}\n', {
      'web.yml': 'tls_server_config: {cert_file: fifo, key_file: /dev/zero}\n',
    });
    execFileSync('mkfifo', [`${folder}/fifo`]);
    const waits = await run(command, folder, { BEACONCHAIN_API_KEY_FILE: `${folder}/fifo` });
    const why = 'cannot be read: it is not a regular file';
    expect(waits.stderr.split('\n')).toEqual([
      `BEACONCHAIN_API_KEY_FILE: the file FOLDER/fifo ${why}`,
      `FOLDER/web.yml:1: tls_server_config.cert_file: the file FOLDER/fifo ${why}`,
      `FOLDER/web.yml:1: tls_server_config.key_file: the file /dev/zero ${why}`,
      '',
    ]);
    execFileSync('rm', [`${folder}/config.yaml`]);
    execFileSync('mkfifo', [`${folder}/config.yaml`]);
    expect((await run(command, folder)).stderr).toBe(`FOLDER/config.yaml: ${why}\n`);
  });

  it.skipIf(process.getuid?.() !== 0)('serve names the user who may not read files or write the state', async () => {
    const folder = folderWith('state: {dir: state}');
    chmodSync(folder, 0o755);
    const env = { ...SURROUNDINGS, NODE_COMPILE_CACHE: undefined, BEACONCHAIN_API_KEY: KEY };
    const asNobody = async (): Promise<string> => {
      const args = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, MAIN];
      const program = start('setpriv', [...args, `--config.file=${folder}/config.yaml`], { cwd: '/', env });
      expect((await program.ended).code).toBe(1);
      return program.stderr.replaceAll(folder, 'FOLDER');
    };
    const denied = 'permission denied, EACCES (to user 65534)';
    expect(await asNobody()).toBe(`the state directory FOLDER/state cannot be used: ${denied}\n`);
    mkdirSync(join(folder, 'state'), { mode: 0o755 });
    chmodSync(join(folder, 'state'), 0o777);
    writeFileSync(join(folder, 'state/ledger.json'), '{}', { mode: 0o600 });
    expect(await asNobody()).toContain(`FOLDER/state/ledger.json: ${denied}. Correct this, or `);
    chmodSync(`${folder}/config.yaml`, 0o600);
    expect(await asNobody()).toBe('FOLDER/config.yaml: cannot be read: permission denied (to user 65534)\n');
  });

  it('paths in the file are relative to the file; flags and the default state.dir to the working directory', async () => {
    const folder = folderWith('log: {format: json}\napi: {key_file: key.txt}\n', {
      'key.txt': KEY,
      'web.yml': 'basic_auth_users: {me: plain}\n',
    });
    const cwd = temporaryFolder();
    const file = `--config.file=${folder}/config.yaml`;
    const options = { cwd, env: SURROUNDINGS };
    const program = start(process.execPath, [MAIN, file, ANY_PORT], options);
    await portOf(program);
    await program.stop();
    expect(contentOf(cwd)).toContain('beaconchain-exporter-state/ledger.json');
    for (const command of ['serve', 'check']) {
      const flagged = start(process.execPath, [MAIN, command, file, '--web.config.file=web.yml'], options);
      expect((await flagged.ended).code).toBe(1);
      expect(flagged.stderr).toBe(`--web.config.file: the file ${cwd}/web.yml cannot be read: no such file\n`);
    }
  });

  it('check writes no file', async () => {
    const folder = folderWith('state: {dir: a/b/state}');
    expect((await run('check', folder)).code).toBe(0);
    expect(contentOf(folder)).toEqual(['config.yaml']);
  });

  it('serve logs warnings at the start and at each reload', async () => {
    const folder = folderWith(
      'log: {format: json}\nmachines: {expected: [a], exclude: [a], enabled: true}\nweb: {external_url: "http://a"}\n',
    );
    const file = `--config.file=${folder}/config.yaml`;
    const program = startExporter([file, ANY_PORT], { BEACONCHAIN_API_KEY: KEY });
    const port = await portOf(program);
    const { status } = await fetch(`http://127.0.0.1:${port}/-/reload`, { method: 'POST' });
    expect(status).toBe(200);
    expect(program.lines('a setting is unsafe or does not work as intended')).toMatchObject(
      Array(2).fill({ level: 'warn', file: `${folder}/config.yaml`, line: 2, setting: 'machines.expected[0]' }),
    );
  });
});
