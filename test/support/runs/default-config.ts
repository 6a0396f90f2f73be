import { type Config, ConfigFile } from '../../../src/sources/registry.ts';

/** The config of an empty file. */
export function defaultConfig(): Config {
  return ConfigFile.parse({});
}

export const BOTH_CHAINS = {
  chains: [
    { name: 'mainnet', v1BaseUrl: 'http://sandbox' },
    { name: 'hoodi', v1BaseUrl: 'http://sandbox/hoodi' },
  ],
} satisfies Partial<Config>;
