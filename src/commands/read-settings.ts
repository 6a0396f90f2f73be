import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Settings } from '../exporter/settings.ts';
import type { Environment } from '../toolkit/yaml/document.ts';
import type { Command } from './flag-table.ts';

/** A command with its flags. */
export type Flagged = Extract<Command, { flags: unknown }>;

/** The settings of a command, and what was found with them. */
export type Given = Settings & Pick<LoadedConfig, 'proxies' | 'warnings'>;

/** Reads the files, the environment and the flags. @throws ConfigError with every mistake at once */
export async function readSettings({ name, flags, overrides }: Flagged, env: Environment): Promise<Given> {
  const keyless = name === 'demo' || name === 'sandbox';
  const { key = '', ...loaded } = await loadConfig({
    file: flags['config.file'],
    overrides,
    env,
    keyless,
    needsKey: !keyless,
    readWebConfig: async (file) => (await import('../toolkit/web/web-config.ts')).readWebConfig(file),
  });
  return { ...loaded, key };
}
