import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadOptions } from '../../src/config/load.ts';
import { type LoadedConfig, loadConfig } from '../../src/sources/registry.ts';
import { ConfigError } from '../../src/toolkit/yaml/mistakes.ts';
import { configFile, temporaryFolder } from '../support/files/files.ts';

/** Loads `text` as a file that the mistakes call `config.yaml`, beside an empty `web.yml`. The key is in the environment. */
export async function withConfig(text: string, given: Partial<LoadOptions> = {}): Promise<LoadedConfig> {
  const folder = temporaryFolder();
  const file = configFile(text, folder);
  writeFileSync(join(folder, 'web.yml'), '');
  try {
    return await loadConfig({ env: { BEACONCHAIN_API_KEY: 'key' }, ...given, file });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.mistakes.map((one) => (one.place === file ? { ...one, place: 'config.yaml' } : one)));
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
