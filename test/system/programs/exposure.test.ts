import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/files.ts';
import { portOf, type Running, startExporter } from '../../support/program.ts';
import { startService } from '../../support/service.ts';

const KEY = 'a-key-of-the-test';
const READABLE = 'other users can read the file that contains the API key';
const CLEAR = 'the API key is sent without encryption';

function write(name: string, text: string, mode: number): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

function serve(file: string, env: NodeJS.ProcessEnv = {}): Running {
  return startExporter(
    ['serve', `--config.file=${file}`, '--web.listen-address=127.0.0.1:0', '--log.format=json'],
    env,
  );
}

describe('system/programs/exposure', () => {
  it('the daemon warns of a key that others can read, at the start and when that has changed at a reload', async () => {
    const { url } = await startService(KEY);
    const key = write('key', KEY, 0o644);
    const where = `api: {base_url: "${url}", key_file: "${key}"}\nchains: {mainnet: {v1_base_url: "${url}"}}\n`;
    const program = serve(write('config.yaml', where, 0o644));
    const port = await portOf(program);
    expect(program.lines(READABLE)).toMatchObject([{ level: 'warn', file: key, mode: '0644' }]);
    expect(program.lines(CLEAR)).toEqual([]);
    for (const [mode, warnings] of [
      [0o644, 1],
      [0o440, 1],
      [0o604, 2],
    ] as const) {
      chmodSync(key, mode);
      const { status } = await fetch(`http://127.0.0.1:${port}/-/reload`, { method: 'POST' });
      expect(status).toBe(200);
      expect(program.lines(READABLE)).toHaveLength(warnings);
    }
    expect(program.output).not.toContain(KEY);
  });

  it('the daemon warns of a key in the configuration, and of one that goes over plain HTTP', async () => {
    const text = `api: {base_url: "http://cache.invalid/x", key: "${KEY}"}\nslashings: {enabled: false}\n`;
    const file = write('config.yaml', text, 0o604);
    const program = serve(file);
    await portOf(program);
    expect(program.lines(READABLE)).toMatchObject([{ file, mode: '0604' }]);
    expect(program.lines(CLEAR)).toMatchObject([{ level: 'warn', host: 'cache.invalid', setting: 'api.base_url' }]);
    expect(program.output).not.toContain(KEY);
    expect(program.output).not.toContain('http://');
  });

  it('check says both, and that there is no mistake', async () => {
    const file = write('config.yaml', `api: {base_url: "http://cache.invalid", key: "${KEY}"}\n`, 0o644);
    const program = startExporter(['check', `--config.file=${file}`]);
    expect(await program.ended).toMatchObject({ code: 0 });
    expect(program.stdout).toMatch(/^The configuration is valid\.\nWarning: /);
    expect(program.stdout).toContain(`Warning: ${READABLE}: ${file} has mode 0644.`);
    expect(program.stdout).toContain(`Warning: ${CLEAR}: to cache.invalid (api.base_url).`);
    expect(program.stdout).not.toContain(KEY);
  });

  it('there is no warning where there is no reason', async () => {
    const file = write('config.yaml', `api: {key_file: "${write('key', KEY, 0o440)}"}\n`, 0o644);
    const program = startExporter(['check', `--config.file=${file}`]);
    expect(await program.ended).toMatchObject({ code: 0 });
    expect(program.output).not.toContain('Warning');
  });
});
