import { isDeepStrictEqual } from 'node:util';
import type { Chain } from '../facts/chain.ts';
import type { LoadedConfig } from '../sources/registry.ts';

/** The settings that the operator may change while the program runs. */
export type Settings = Pick<LoadedConfig, 'config' | 'key' | 'webConfig'>;

/** Whether requests for a chain (undefined: for none in particular) would go to another host or have another key. */
export function isOtherService(before: Settings, after: Settings, chain: Chain | undefined): boolean {
  const partsOf = ({ key, config: { api, chains } }: Settings) => [
    key,
    api.baseUrl,
    chains.find(({ name }) => name === chain)?.v1BaseUrl,
  ];
  return !isDeepStrictEqual(partsOf(before), partsOf(after));
}

/** @throws Error with all settings that have changed and take effect only at a start. */
export function assertNoRestartNeeded(before: Settings, after: Settings): void {
  const [now, next] = [before.config, after.config];
  const [tls, nextTls] = [before.webConfig?.tls, after.webConfig?.tls];
  const fixed = {
    'web.listen_address': [now.web.listenAddresses, next.web.listenAddresses],
    'web.telemetry_path': [now.web.telemetryPath, next.web.telemetryPath],
    'web.config_file': [now.web.configFile, next.web.configFile],
    // Node decides at the start of a server whether it speaks TLS and asks clients for certificates.
    'TLS on or off': [tls === undefined, nextTls === undefined],
    'tls_server_config.client_auth_type': [tls?.clients, nextTls?.clients],
    state: [now.state, next.state],
    'log.format': [now.log.format, next.log.format],
  };
  const changed = Object.entries(fixed).filter(([, values]) => !isDeepStrictEqual(values[0], values[1]));
  if (changed.length === 0) return;
  const settings = changed.map(([setting]) => setting).join(', ');
  throw new Error(`${settings} ${changed.length === 1 ? 'has' : 'have'} changed: this requires a restart`);
}
