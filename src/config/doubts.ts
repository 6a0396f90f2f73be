import { isIPv6 } from 'node:net';
import { CHAINS } from '../facts/chain.ts';
import type { Finding } from '../toolkit/yaml/mistakes.ts';
import type { CommonConfig } from './config.ts';

export interface Host {
  readonly name: string;
  readonly isPod: boolean;
}

/**
 * Pure. Settings that are valid but do not work as intended, or let others get the key. The path of each locates its line
 * in the file. @param config With the sections of sources @param ofSources Their doubts
 */
export function doubtsIn(config: CommonConfig, ofSources: readonly Finding[], keyless: boolean, host: Host): Finding[] {
  const isOn = (section: object): boolean => 'enabled' in section && section.enabled === true;
  if (!Object.values(config).some(isOn)) return [{ path: [], message: 'all sources are disabled: nothing is polled' }];
  return [
    ...hostDoubts(config),
    ...(keyless ? [] : exposures(config)),
    ...ofSources,
    ...directoryDoubts(config.state),
    ...(keyless ? [] : linkDoubts(config.web, host)),
  ];
}

function hostDoubts({ api, chains }: CommonConfig): Finding[] {
  const twice = api.baseUrl.endsWith('/api/v2')
    ? [{ path: ['api', 'base_url'], message: 'expected the URL without /api/v2, which the exporter adds' }]
    : [];
  const wrong = chains.flatMap(({ name, v1BaseUrl }, i): Finding[] => {
    const path = ['chains', name, 'v1_base_url'];
    const same = chains.slice(0, i).find((other) => other.v1BaseUrl === v1BaseUrl);
    if (same) return [{ path, message: `the same URL as for ${same.name}: both chains would show the same data` }];
    const [other] = Object.entries(CHAINS).find(([chain, one]) => chain !== name && one.v1BaseUrl === v1BaseUrl) ?? [];
    return other ? [{ path, message: `this is the host of ${other}, expected ${CHAINS[name].v1BaseUrl}` }] : [];
  });
  return [...twice, ...wrong];
}

const LOOPBACK = /^(127(\.\d+){3}|\[::1\]|(.+\.)?localhost)$/;

/** Hosts that get the key in clear text. A doubt, not a mistake: a test or a private network can intend it. */
function exposures({ api, chains }: CommonConfig): Finding[] {
  const hosts = [
    { path: ['api', 'base_url'], url: api.baseUrl },
    ...chains.map(({ name, v1BaseUrl }) => ({ path: ['chains', name, 'v1_base_url'], url: v1BaseUrl })),
  ];
  return hosts.flatMap(({ path, url }) => {
    const { protocol, hostname } = new URL(url);
    if (protocol !== 'http:' || LOOPBACK.test(hostname)) return [];
    return [{ path, message: 'the API key is sent without encryption: use https, or a proxy on this machine' }];
  });
}

function directoryDoubts({ dir, redis }: CommonConfig['state']): Finding[] {
  const [, part] = /\/(~|\$\w+)(?:\/|$)/.exec(dir) ?? [];
  if (redis || part === undefined) return [];
  const expected = part === '~' ? 'HOME' : part.slice(1);
  return [{ path: ['state', 'dir'], message: `${part} is not expanded: expected \${${expected}}` }];
}

/** The default host names in Docker and Podman. */
const CONTAINER_NAME = /^[0-9a-f]{12}$/;

/** Alerts link the address that Prometheus scrapes, unless an external URL is set. Only Prometheus has that address. */
function linkDoubts({ externalUrl, listenAddresses }: CommonConfig['web'], { name, isPod }: Host): Finding[] {
  const isLocal = listenAddresses.every(({ host = '' }) => LOOPBACK.test(isIPv6(host) ? `[${host}]` : host));
  const isContained = isPod || CONTAINER_NAME.test(name);
  if (externalUrl !== null || !(isLocal || isContained)) return [];
  const leadTo = isLocal ? 'localhost' : 'an address that only containers reach';
  const message = `not set, so links in alerts lead to ${leadTo}: expected the URL at which your browser reaches the exporter`;
  return [{ path: ['web', 'external_url'], message }];
}
