import { isIPv6 } from 'node:net';
import { CHAINS } from '../facts/chain.ts';
import { autoStaleAfter } from '../facts/stale-after.ts';
import { formatDuration, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { Finding } from '../toolkit/yaml/mistakes.ts';
import type { Config } from './config.ts';

/** Where the program runs. */
export interface Host {
  readonly name: string;
  readonly isPod: boolean;
}

/**
 * Pure. Settings that are valid but do not work as intended, or let others get the key. The path of each locates its line
 * in the file.
 */
export function doubtsIn(config: Config, keyless: boolean, host: Host): Finding[] {
  const { machines, validators } = config;
  const watches = Object.values(validators.watch).some((ranges) => ranges.length > 0);
  const isOff = (section: object): boolean => !('enabled' in section && section.enabled === true);
  const isIdle = Object.values(config).every(isOff) && !watches;
  if (isIdle) return [{ path: [], message: 'all sources are disabled: nothing is polled' }];
  return [
    ...hostDoubts(config),
    ...(keyless ? [] : exposures(config)),
    ...(machines.enabled ? machineDoubts(machines) : []),
    ...(watches ? watchDoubts(config) : []),
    ...directoryDoubts(config.state),
    ...(keyless ? [] : linkDoubts(config.web, host)),
  ];
}

/** A path that would be there twice, and chains that would show the data of another chain. */
function hostDoubts({ api, chains }: Config): Finding[] {
  const twice = api.baseUrl.endsWith('/api/v2')
    ? [{ path: ['api', 'base_url'], message: 'expected the URL without /api/v2, which is added to it' }]
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

/** The hosts that get the key in clear text. It is no mistake: in a test or on a private network it can be intended. */
function exposures({ api, chains }: Config): Finding[] {
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

function machineDoubts(machines: Config['machines']): Finding[] {
  const named = (['expected', 'include', 'exclude'] as const).flatMap((list) =>
    machines[list].map((name, i) => ({ list, name, path: ['machines', list, i] })),
  );
  const patterns = named.filter(({ name }) => name.includes('*'));
  const excluded = named.filter(({ list, name }) => list === 'expected' && machines.exclude.includes(name));
  return [
    ...patterns.map(({ name, path }) => ({
      path,
      message: `"${name}" is a name: only chain_rules and groups support patterns`,
    })),
    ...excluded.map(({ name, path }) => ({
      path,
      message: `"${name}" is also in machines.exclude: it has no series and no alerts`,
    })),
    ...ageDoubts(machines),
  ];
}

function ageDoubts({ intervalMs, staleAfterMs, forgetAfterMs }: Config['machines']): Finding[] {
  const stale = staleAfterMs === 'auto' ? autoStaleAfter(intervalMs) : staleAfterMs;
  const [interval, after, forget] = [intervalMs, stale, forgetAfterMs].map(formatDuration);
  const withdrawn = `${after} is less than machines.interval (${interval}) plus the minute between two pushes: values are withdrawn between polls`;
  const forgotten = `${forget} is not longer than the ${after} of machines.stale_after: a silent machine disappears before an alert fires`;
  return [
    ...(stale < intervalMs + MS_PER_MINUTE ? [{ path: ['machines', 'stale_after'], message: withdrawn }] : []),
    ...(forgetAfterMs <= stale ? [{ path: ['machines', 'forget_after'], message: forgotten }] : []),
  ];
}

function watchDoubts({ slashings, validators: { status, syncCommittee } }: Config): Finding[] {
  if (slashings.enabled || status || syncCommittee) return [];
  const message = 'has no effect, because every part is off and slashings.enabled is false';
  return [{ path: ['validators', 'watch'], message }];
}

/** Only a shell expands `~` and `$HOME`. */
function directoryDoubts({ dir, redis }: Config['state']): Finding[] {
  const [, part] = /\/(~|\$\w+)(?:\/|$)/.exec(dir) ?? [];
  if (redis || part === undefined) return [];
  const expected = part === '~' ? 'HOME' : part.slice(1);
  return [{ path: ['state', 'dir'], message: `${part} is part of a name here: expected \${${expected}}` }];
}

/** The names that Docker and Podman give to containers. */
const CONTAINER_NAME = /^[0-9a-f]{12}$/;

/** Alerts link the address that Prometheus scrapes, unless an external URL is set. Only Prometheus has that address. */
function linkDoubts({ externalUrl, listenAddresses }: Config['web'], { name, isPod }: Host): Finding[] {
  const isLocal = listenAddresses.every(({ host = '' }) => LOOPBACK.test(isIPv6(host) ? `[${host}]` : host));
  const isContained = isPod || CONTAINER_NAME.test(name);
  if (externalUrl !== null || !(isLocal || isContained)) return [];
  const leadTo = isLocal ? 'localhost' : 'an address that only containers reach';
  const message = `not set, so links in alerts lead to ${leadTo}: expected the URL at which your browser reaches the exporter`;
  return [{ path: ['web', 'external_url'], message }];
}
