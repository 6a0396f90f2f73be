import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { type RunningSandbox, startSandbox } from '../../../src/sandbox/server.ts';
import { SURROUNDINGS } from '../../support/program.ts';

describe('system/programs/check', () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  async function probed(key: string): Promise<{ code: number; stdout: string; sandbox: RunningSandbox }> {
    const dir = await mkdtemp(join(tmpdir(), 'check-'));
    cleanups.push(() => rm(dir, { recursive: true }));
    const sandbox = await startSandbox({ host: '127.0.0.1', port: 0, clock: systemClock, plan: 'free_trial' });
    cleanups.push(() => sandbox.close());
    const file = join(dir, 'config.yaml');
    const v1 = `{v1_base_url: ${JSON.stringify(sandbox.url)}}`;
    await writeFile(
      file,
      `api: {base_url: ${JSON.stringify(sandbox.url)}}\nchains: {mainnet: ${v1}}\nstate: {dir: ${dir}}\n`,
    );
    const program = [join(import.meta.dirname, '../../../src/main.ts'), 'check', '--probe', `--config.file=${file}`];
    return new Promise((resolve) => {
      execFile(process.execPath, program, { env: { ...SURROUNDINGS, BEACONCHAIN_API_KEY: key } }, (error, stdout) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, sandbox }),
      );
    });
  }

  it('asks the service once for plan, limits and validity of the key', async () => {
    const { code, stdout, sandbox } = await probed('sandbox');
    expect(stdout).toContain('Key: valid. Plan: 1 per second and 1000 per month, as on a trial or a legacy plan.');
    expect(stdout).toContain('Limits: as the service just said.\n  bucket default: 1 per second');
    expect(stdout).toContain('1000 per month (999 left)');
    expect(code).toBe(0);
    expect(sandbox.sandbox.account.inMonth).toBe(1);
  });

  it('says that the key is refused, without showing it, and fails', async () => {
    const { code, stdout } = await probed('not-the-key');
    expect(stdout).toContain('Key: refused.');
    expect(stdout).not.toContain('not-the-key');
    expect(code).toBe(1);
  });
});
