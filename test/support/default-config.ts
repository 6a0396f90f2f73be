import { type Config, ConfigFile } from '../../src/config/config.ts';

/** The config of an empty file. */
export function defaultConfig(): Config {
  return ConfigFile.parse({});
}
