import type { Config } from './config/config.ts';

/** What `check` prints for a configuration without mistakes. */
export function describeConfig(config: Config): string {
  const chains = config.chains.map(({ name }) => name).join(', ');
  return `The configuration has no mistakes. Chains: ${chains}. The table of costs is not there yet.\n`;
}
