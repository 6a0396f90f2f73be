import { isFiller } from './budget/bucket.ts';
import { WINDOWS } from './budget/headers.ts';
import type { Ledger } from './budget/ledger.ts';
import type { Status } from './http/status-page.ts';
import type { Family } from './metrics/family.ts';
import type { SourceView } from './scheduler/scheduler.ts';
import { VERSION } from './version.ts';

export interface StatusContext {
  /** Unix ms. */
  readonly now: number;
  readonly telemetryPath: string;
}

/** What the status page shows, from what /metrics shows. */
export function statusOf(views: readonly SourceView[], ledger: Ledger, context: StatusContext): Status {
  const families = new Map(
    views.flatMap(({ source, entry, timing }) =>
      source
        .families(entry.value, timing)
        .map((family): [string, Family] => [`${family.name} ${source.chain}`, family]),
    ),
  );
  const samples = (name: string): Family['samples'] =>
    [...families.values()]
      .filter((family) => family.name === `beaconchain_${name}`)
      .flatMap((family) => family.samples);
  return {
    ...context,
    version: VERSION,
    sources: views.map(({ source, entry, pace, nextAttemptAt }) => ({
      name: source.name,
      chain: source.chain ?? '',
      up: entry.attempts > 0 && entry.failuresInARow === 0,
      lastSuccessAt: entry.lastSuccessAt,
      nextAttemptAt,
      intervalMs: pace.intervalMs,
      error: entry.failuresInARow > 0 ? entry.lastError?.message : undefined,
    })),
    budget: Object.entries(ledger.buckets).flatMap(([bucket, known]) =>
      WINDOWS.filter((window) => known.limits[window] !== undefined && !isFiller(known, window)).map((window) => ({
        bucket,
        window,
        limit: known.limits[window] ?? 0,
        left: String(known.remaining[window] ?? ''),
      })),
    ),
    machines: newestByMachine(samples('machine_last_seen_timestamp_seconds')),
    slashings: chainsIn(samples('attester_slashings_total')).map((chain) => ({
      chain,
      count: samples('attester_slashings_total')
        .filter(({ labels }) => labels['chain'] === chain)
        .reduce((sum, { value }) => sum + value, 0),
      lastAt: msOf(samples('last_attester_slashing_timestamp_seconds').find(({ labels }) => labels['chain'] === chain)),
    })),
  };
}

function chainsIn(samples: Family['samples']): string[] {
  return [...new Set(samples.map(({ labels }) => labels['chain'] ?? ''))];
}

function msOf(sample: Family['samples'][number] | undefined): number | undefined {
  return sample && sample.value * 1000;
}

function newestByMachine(samples: Family['samples']): Status['machines'] {
  const machines = Map.groupBy(samples, ({ labels }) => labels['machine'] ?? '');
  return [...machines].map(([name, group]) => {
    const newest = Math.max(...group.map(({ value }) => value));
    return { name, chain: group[0]?.labels['chain'] ?? '', lastSeenAt: newest === 0 ? undefined : newest * 1000 };
  });
}
