import { SECONDS_PER_SLOT } from '../../../src/facts/chain.ts';
import type { Entry } from '../../../src/scheduler/entry.ts';
import { link } from '../../../src/sources/content.ts';
import { NO_INPUTS } from '../../../src/sources/read.ts';
import { sourcesOf } from '../../../src/sources/registry.ts';
import { between } from '../../../src/toolkit/lib/random.ts';
import { fakeApi, type SentRequest } from '../../support/answers/fake-api.ts';
import type { MetricsRequest } from '../../support/answers/machine-records.ts';
import { encodeFamilies } from '../../support/exposition/encode.ts';
import { defaultConfig } from '../../support/runs/default-config.ts';
import { round } from '../../support/runs/round.ts';
import { HOUR, MINUTE, polls, SECOND, timing } from '../../support/time/timing.ts';
import { BOOT, type Pushed, WRITTEN_AT } from './pushed.ts';

/** A process that pushes a body every minute. */
export interface Pusher {
  readonly body: readonly Pushed[];
  /** The seconds of the clock minute at which it first pushes. */
  readonly at: number;
  /** Seconds from push to push. Lodestar counts them from the response. */
  readonly every?: number;
  /** Seconds by which each push is late at most. */
  readonly jitter?: number;
}

/** What pushes in the name of one machine. */
export interface Setup {
  readonly pushers: readonly Pusher[];
  /** From the middle of the run on: a record as it is pushed. */
  readonly change?: (record: Pushed) => Pushed;
}

export interface Played {
  /** A value for each minute, by series, as promtool reads them. */
  readonly series: ReadonlyMap<string, readonly string[]>;
  /** What the status page said at any time. */
  readonly notices: ReadonlySet<string>;
}

const START = WRITTEN_AT + 7 * SECOND;
/** How long the exporter runs. */
const LASTS = 2 * HOUR;
/** How long a machine has pushed when the exporter starts. */
const BEFORE = 10 * MINUTE;
const COUNTERS =
  /^(cpu_\w+_seconds_total|network_\w+_bytes_total_\w+|disk_node_(io_seconds|reads_total|writes_total))$/;

/**
 * A body as it is at `now`: each counter has grown at its mean rate since the boot, whose time varies by a second, as
 * Lodestar's does.
 */
function agedTo(record: Pushed, now: number): Pushed {
  const growth = (now / 1000 - BOOT) / (WRITTEN_AT / 1000 - BOOT);
  const slots = Math.floor((now - WRITTEN_AT) / 1000 / SECONDS_PER_SLOT);
  const aged = Object.entries(record).map(([field, value]) => {
    if (COUNTERS.test(field)) return [field, Math.floor(Number(value) * growth)];
    if (field === 'misc_node_boot_ts_seconds') return [field, Number(value) + (slots % 2)];
    return [field, field === 'sync_beacon_head_slot' ? Number(value) + slots : value];
  });
  return { ...Object.fromEntries(aged), timestamp: now };
}

/** Every record that the service keeps: of each process of the machine the first in a clock minute (api-facts 1.1). */
function* kept({ pushers, change }: Setup): Generator<Pushed> {
  const pushes = pushers.flatMap(({ body, at, every = 60, jitter = 0 }, pusher) =>
    Array.from({ length: Math.floor((LASTS + BEFORE) / (every * SECOND)) }, (_, i) => {
      const late = between(0, jitter * SECOND, pusher, i);
      return { body, time: WRITTEN_AT - BEFORE + (at + i * every) * SECOND + late };
    }),
  );
  const taken = new Set<string>();
  for (const { body, time } of pushes.sort((a, b) => a.time - b.time)) {
    const isLater = time >= START + LASTS / 2;
    for (const written of body) {
      const aged = agedTo(written, time);
      const record = isLater && change ? change(aged) : aged;
      const key = `${Math.floor(time / MINUTE)} ${written['process']}`;
      if (taken.has(key)) continue;
      taken.add(key);
      yield { ...record, machine: 'node-a' };
    }
  }
}

const ARRAYS = { system: 'system_metrics', validator: 'validator_metrics', beaconnode: 'node_metrics' };

/** How the service returns records. @param omitsZeros Whether it leaves out 0, false and "" (api-facts 1.1) */
function answers(records: readonly Pushed[], omitsZeros: boolean, now: () => number) {
  return ({ endpoint, body }: SentRequest): unknown => {
    if (endpoint === 'machine_names') return { data: ['node-a'] };
    const { range, machines, page_size: size = 10, cursor = '0' } = body as MetricsRequest;
    const [first, start, end] = [Number(cursor), range.timestamp.start * SECOND, range.timestamp.end * SECOND];
    const found = records
      .filter(({ timestamp }) => Number(timestamp) >= start && Number(timestamp) <= Math.min(end, now()))
      .filter(({ machine }) => machines?.includes(`${machine}`) ?? true);
    const arrays = Object.entries(ARRAYS).map(([process, array]) => {
      const newest = found.filter((record) => record['process'] === process).toReversed();
      return [array, newest.slice(first, first + size).map((record) => readModel(record, omitsZeros))];
    });
    const isEnd = arrays.every(([, page]) => page?.length === 0);
    return { data: Object.fromEntries(arrays), paging: { next_cursor: isEnd ? '' : `${first + size}` } };
  };
}

function readModel({ version, process, slasher_active, ...record }: Pushed, omitsZeros: boolean): object {
  const fields = Object.entries(record).filter(([field, value]) => !omitsZeros || value || field === 'machine');
  return Object.fromEntries(fields);
}

/** Polls the machine each minute. Between polls the state is written and read, as over a restart. */
export async function play(instance: string, setup: Setup, omitsZeros = false): Promise<Played> {
  const source = sourcesOf(defaultConfig()).find(({ name }) => name === 'machines');
  if (!source) throw new Error('the machines are not polled');
  let now = START;
  const api = fakeApi(answers([...kept(setup)], omitsZeros, () => now));
  const series = new Map<string, string[]>();
  const notices = new Set<string>();
  let entry: Entry | undefined;
  for (let minute = 0; minute < LASTS / MINUTE; minute += 1, now += MINUTE) {
    // Without attempts every read is due.
    const sweep = await round(source, api, entry && { ...entry, reads: {} }, { now });
    if (sweep.failure) throw sweep.failure;
    ({ entry } = sweep);
    const shown = { inputs: NO_INPUTS, linked: link, polls: polls({ lastSuccessAt: now }) };
    const summary = source.page?.(entry.value, timing({ now }), shown);
    for (const { tone, alert, text } of summary?.notices ?? []) if (tone !== 'neutral') notices.add(alert ?? text);
    const text = `${encodeFamilies(source.metrics(entry.value, timing({ now }), NO_INPUTS), 'text')}
beaconchain_source_last_success_timestamp_seconds{source="machines"} ${now / SECOND}
beaconchain_source_interval_seconds{source="machines"} ${MINUTE / SECOND}`;
    for (const [, name, labels, sample = ''] of text.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)) {
      const key = `${name}{job="exporter",instance="${instance}",${labels}}`;
      const samples = series.get(key) ?? Array(minute).fill('_');
      series.set(key, samples);
      samples.push(sample);
    }
    // Prometheus marks a series that a scrape lacks.
    for (const samples of series.values()) if (samples.length === minute) samples.push('stale');
  }
  if (api.invalidRecords() > 0) throw new Error('records were dropped');
  return { series, notices };
}
