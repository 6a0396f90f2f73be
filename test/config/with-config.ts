import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/toolkit/yaml/mistakes.ts';

/** Loads `text` as a file that the mistakes call `config.yaml`, beside an empty `web.yml`. The key is in the environment. */
export async function withConfig(text: string, given: Partial<LoadOptions> = {}): Promise<LoadedConfig> {
  const folder = await mkdtemp(join(tmpdir(), 'config-'));
  const file = join(folder, 'config.yaml');
  try {
    await writeFile(file, text);
    await writeFile(join(folder, 'web.yml'), '');
    return await loadConfig({ env: { BEACONCHAIN_API_KEY: 'key' }, ...given, file });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.mistakes.map((one) => (one.place === file ? { ...one, place: 'config.yaml' } : one)));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The lines reported for a refused configuration. */
export async function refusal(loading: Promise<LoadedConfig>): Promise<string[]> {
  try {
    await loading;
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  throw new Error('expected a refusal, but it was accepted');
}
