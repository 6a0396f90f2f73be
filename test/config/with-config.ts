import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/toolkit/yaml/mistakes.ts';

/** Loads `text` as a file that the mistakes call `config.yaml`. */
export async function withConfig(text: string, given: Partial<LoadOptions<unknown>> = {}): Promise<LoadedConfig> {
  const folder = await mkdtemp(join(tmpdir(), 'config-'));
  const file = join(folder, 'config.yaml');
  try {
    await writeFile(file, text);
    return await loadConfig({ env: {}, ...given, file });
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
