import { type Config, ConfigFile, sourcesOf } from '../../../src/sources/registry.ts';
import type { Source } from '../../../src/sources/source.ts';

/** The config of an empty file. */
export function defaultConfig(): Config {
  return ConfigFile.parse({});
}

/** The sources of the default configuration with these changes. */
export function configured(overrides: Partial<Config> = {}): Source[] {
  return sourcesOf({ ...defaultConfig(), ...overrides });
}

export const BOTH_CHAINS = {
  chains: [
    { name: 'mainnet', v1BaseUrl: 'http://sandbox' },
    { name: 'hoodi', v1BaseUrl: 'http://sandbox/hoodi' },
  ],
} satisfies Partial<Config>;
