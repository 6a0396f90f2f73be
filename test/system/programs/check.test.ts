import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FaultServer } from '../../support/fault-server.ts';
import { temporaryFolder } from '../../support/files.ts';
import { startExporter } from '../../support/program.ts';
import { startService } from '../../support/service.ts';

describe('system/programs/check', () => {
  async function probed(key: string): Promise<{ code: number | null; stdout: string; service: FaultServer }> {
    const dir = temporaryFolder();
    const service = await startService('the-key', { plan: 'free_trial' });
    const file = join(dir, 'config.yaml');
    const { url } = service;
    writeFileSync(
      file,
      `api: {base_url: "${url}"}\nchains: {mainnet: {v1_base_url: "${url}"}}\nstate: {dir: "${dir}"}\n`,
    );
    const program = startExporter(['check', '--probe', `--config.file=${file}`], { BEACONCHAIN_API_KEY: key });
    const { code } = await program.ended;
    return { code, stdout: program.stdout, service };
  }

  it('asks the service once for plan, limits and validity of the key', async () => {
    const { code, stdout, service } = await probed('the-key');
    expect(stdout).toContain('Key: valid. Plan: 1 per second and 1000 per month, as on a trial or a legacy plan.');
    expect(stdout).toContain('Limits: as the service just said.\n  bucket default: 1 per second');
    expect(stdout).toContain('1000 per month (999 left)');
    expect(code).toBe(0);
    expect(service.sandbox.account.inMonth).toBe(1);
  });

  it('says that the key is refused, without showing it, and fails', async () => {
    const { code, stdout } = await probed('not-the-key');
    expect(stdout).toContain('Key: refused.');
    expect(stdout).not.toContain('not-the-key');
    expect(code).toBe(1);
  });
});
