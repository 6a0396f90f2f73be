import { type Config, configOf } from '../../src/config/config.ts';
import { ConfigFile } from '../../src/config/schema.ts';

/** The config of an empty file. */
export function defaultConfig(): Config {
  return configOf(ConfigFile.parse({}));
}
