import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { Datapoint } from '../../src/api/answers/daily-returns.ts';
import { NodeRecord, SystemRecord, ValidatorRecord } from '../../src/api/answers/machines.ts';
import { AttesterSlashing, SlotRow } from '../../src/api/answers/slots.ts';
import { RequestFailed } from '../../src/api/errors.ts';
import { CHAINS, EPOCHS_PER_SYNC_COMMITTEE_PERIOD, epochAt, SECONDS_PER_EPOCH } from '../../src/facts/chain.ts';
import { membersAnswer, periodAnswer } from '../../src/sandbox/sync-committee.ts';
import { type Entry, emptyEntry, entrySchema, withoutRefusals } from '../../src/scheduler/entry.ts';
import { ConfigFile, sourcesOf } from '../../src/sources/registry.ts';
import type { Source } from '../../src/sources/source.ts';
import type { Family } from '../../src/toolkit/exposition/family.ts';
import { datapoint, dayAfter, returnsPage } from '../support/answers/datapoint.ts';
import { machinesPage, nodeRecord, systemRecord, validatorRecord } from '../support/answers/machine-records.ts';
import { NETWORK_PERFORMANCE, QUEUES } from '../support/answers/network-answers.ts';
import { askedFor, epochRows, row, slashing, slotAt } from '../support/answers/slot-rows.ts';
import {
  performanceAnswer,
  rangeOf,
  rewardsAnswer,
  validatorRow,
  validatorsAnswer,
} from '../support/answers/validators.ts';
import { encodeFamilies } from '../support/exposition/encode.ts';
import { parseExposition } from '../support/exposition/exposition-parser.ts';
import { sampleValue } from '../support/exposition/samples.ts';
import { round, scheduleAt } from '../support/runs/round.ts';
import { MINUTE, NOW } from '../support/time/timing.ts';
import { cases, PATIENT } from '../support/vitest/fuzz.ts';
import { type Fault, fault, mutated, mutations, oddApi } from './odd.ts';

/** A service that answers well, and what is right after some good answers. */
interface Subject {
  /** The body of the good answer for a path, at a time. undefined: there is none. */
  readonly service: (now: number) => (path: string) => unknown;
  /** Series that never step back. */
  readonly grow?: readonly string[];
  /** The series that are right, at a time. */
  readonly right: (now: number) => Readonly<Record<string, number>>;
}

const { genesis } = CHAINS.mainnet;
const periodAt = (now: number): number => Math.floor(epochAt('mainnet', now) / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);

/** By the name of the source. */
const SUBJECTS: Readonly<Record<string, Subject>> = {
  machines: {
    service: (now) => (path) => {
      if (path.endsWith('machine-names')) return { data: ['node-a', 'node-b'] };
      const timestamp = now - 20_000;
      const system = [systemRecord({ timestamp, cpu_cores: 7 }), systemRecord({ timestamp, machine: 'node-b' })];
      return machinesPage({ system, validator: [validatorRecord({ timestamp })], node: [nodeRecord({ timestamp })] });
    },
    right: () => ({ 'machine_cpu_cores machine=node-a': 7, 'machine_peers machine=node-a': 97 }),
  },
  daily_returns: {
    // The first round sees day 2126, the last one after the trouble day 2127.
    service: (now) => (path) =>
      path.includes('eth-store') ? undefined : returnsPage(dayAfter(25), dayAfter(now > NOW + 4.5 * MINUTE ? 27 : 26)),
    grow: ['daily_return_day'],
    right: () => ({ daily_return_day: 2127, 'daily_return_apr_ratio layer=consensus': 0.027635714286 }),
  },
  sync_committee: {
    service: (now) => () => periodAnswer('mainnet', periodAt(now)),
    grow: ['sync_committee_period'],
    right: (now) => ({ sync_committee_period: periodAt(now), sync_committee_start_epoch: periodAt(now) * 256 }),
  },
  slashings: {
    // The first slot of every epoch announces a slashing of three validators.
    service: (now) => (path) => {
      const latest = epochAt('mainnet', now);
      const begun = slotAt('mainnet', now) - latest * 32 + 1;
      const words: Record<string, number> = { latest, finalized: latest - 2 };
      const [asked = '', slot] = askedFor(path).split('/');
      if (slot !== undefined)
        return { status: 'OK', data: [{ ...slashing(Number(slot), [1, 2, Number(slot)]), proposerindex: 1 }] };
      const epoch = words[asked] ?? Number(asked);
      if (epoch > latest) return undefined;
      const rows = epochRows(epoch, { 0: { attesterslashingscount: 1 } }, epoch === latest ? begun : 32);
      return { status: 'OK', data: rows };
    },
    grow: ['scanned_epoch', 'slots_total status=proposed', 'skipped_epochs_total'],
    right: (now) => {
      const latest = epochAt('mainnet', now);
      return {
        head_epoch: latest,
        finalized_epoch: latest - 2,
        scanned_epoch: latest - 2,
        head_slot: slotAt('mainnet', now),
        last_attester_slashing_timestamp_seconds: genesis + latest * SECONDS_PER_EPOCH,
      };
    },
  },
  network: {
    service: (now) => (path) => {
      const range = { epoch: { start: 1, end: epochAt('mainnet', now) } };
      return path.endsWith('/queues') ? QUEUES : { ...NETWORK_PERFORMANCE, range };
    },
    right: () => ({ 'network_score_ratio duty=proposal': 0.9962, 'queue_validators queue=exit': 400 }),
  },
  validators: {
    service: (now) => (path) => {
      if (path.includes('/v1/')) return membersAnswer(periodAt(now), [1, 2]);
      const last = epochAt('mainnet', now) - 2;
      if (path.endsWith('performance-aggregate'))
        return { ...(performanceAnswer(2_700, 7, 0.99) as object), range: rangeOf(last) };
      if (path.endsWith('rewards-aggregate')) return rewardsAnswer({ total: '5' }, last);
      const rows = Array.from({ length: 12 }, (_, i) => validatorRow(i + 1));
      return validatorsAnswer(epochAt('mainnet', now), rows);
    },
    right: () => ({
      watched_validators_online: 12,
      'watched_validators_score_ratio duty=total': 0.99,
      watched_validators_penalties_ether: 0.000006,
    }),
  },
};

const CONFIG = {
  machines: { expected: ['never'] },
  validators: { watch: ['1-12'] },
  slashings: { interval: '1m', catch_up: '1h' },
};
const SOURCES = sourcesOf(ConfigFile.parse(CONFIG)).map((source) => [source.name, source] as const);

function subjectOf({ name }: Source): Subject {
  const subject = SUBJECTS[name];
  if (!subject) throw new Error(`no good answers for ${name}: add them to SUBJECTS`);
  return subject;
}

/** `name label=value` */
function shownValue(families: readonly Family[], series: string): number | undefined {
  const [name, label] = series.split(' ');
  const [key = '', value = ''] = label?.split('=') ?? [];
  return sampleValue(families, `beaconchain_${name}`, label ? { [key]: value } : undefined);
}

/** Fails if a sample is not a number, a counter is negative, or a sample has to be computed anew already. */
function expectShowable(families: readonly Family[], now: number): void {
  const read = parseExposition(Buffer.from(encodeFamilies(families, 'text')).toString());
  for (const { metadata, samples } of read) {
    for (const { name, value } of samples) {
      expect(Number.isFinite(value), `${name} ${value}`).toBe(true);
      if (metadata['TYPE'] === 'counter') expect(value, name).toBeGreaterThanOrEqual(0);
    }
  }
  const until = families.flatMap(({ samples }) => [...samples].map(({ until = Infinity }) => until));
  expect(Math.min(...until)).toBeGreaterThan(now);
}

/** After an hour of good answers no pause is left. */
const GOOD_ROUNDS = 10;
const BETWEEN = 7 * MINUTE;

/** Rounds with these faults, each when it is due, then a reload and good answers. Returns the last entry and its time. */
async function polled(source: Source, faults: readonly Fault[][]): Promise<{ entry: Entry; now: number }> {
  const { service, grow = [] } = subjectOf(source);
  let [now, entry] = [NOW, emptyEntry(source)];
  const before = new Map<string, number>();
  for (let i = 0; i < faults.length + GOOD_ROUNDS; i += 1) {
    if (i === faults.length) entry = withoutRefusals(source, entry);
    const due = Math.min(...scheduleAt(source, entry, now).reads.map(({ nextAttemptAt }) => nextAttemptAt));
    now = Math.max(now + (i < faults.length ? MINUTE : BETWEEN), due);
    const { entry: after, failure } = await round(source, oddApi(service(now), faults[i], now), entry, { now });
    if (failure) expect(failure).toBeInstanceOf(RequestFailed);
    entry = after;
    const families = shownOf(source, entry, now);
    expectShowable(families, now);
    for (const series of grow) {
      const shown = shownValue(families, series) ?? 0;
      expect(shown, series).toBeGreaterThanOrEqual(before.get(series) ?? 0);
      before.set(series, shown);
    }
  }
  return { entry, now };
}

function shownOf(source: Source, entry: Entry, now: number): Family[] {
  const { timing, inputs } = scheduleAt(source, entry, now);
  return source.metrics(entry.value, timing, inputs);
}

/** A few rounds, each with the faults of its first requests. */
const trouble: fc.Arbitrary<Fault[][]> = fc.array(fc.array(fault, { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 4,
});

describe('fuzz sources', PATIENT, () => {
  it.each(SOURCES)(
    '%s: nothing odd is shown or steps back, whatever is answered, and good answers set it right',
    async (_, source) => {
      await fc.assert(
        fc.asyncProperty(trouble, async (faults) => {
          const { entry, now } = await polled(source, faults);
          const families = shownOf(source, entry, now);
          for (const [series, right] of Object.entries(subjectOf(source).right(now)))
            expect(shownValue(families, series), series).toBe(right);
        }),
        cases(50),
      );
    },
  );

  it.each(SOURCES)('%s: a saved state that is not refused can be shown and planned with', async (_, source) => {
    const { entry, now } = await polled(source, []);
    fc.assert(
      fc.property(mutations(), (changes) => {
        const parsed = entrySchema(source).safeParse(mutated(entry, changes));
        if (!parsed.success) return;
        expectShowable(shownOf(source, parsed.data, now), now);
        const due = scheduleAt(source, parsed.data, now).reads.map(({ nextAttemptAt }) => nextAttemptAt);
        expect(Math.min(...due)).toBeLessThan(Number.POSITIVE_INFINITY);
      }),
      cases(60),
    );
  });
});

/** A field of a good answer to a request: the first of each name. */
interface Place {
  readonly path: string;
  readonly keys: readonly string[];
  readonly value: unknown;
}

function leavesIn(path: string, value: unknown, keys: readonly string[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return [{ path, keys, value }];
  return Object.entries(value).flatMap(([key, own]) => leavesIn(path, own, [...keys, key]));
}

function nameOf({ path, keys }: Place): string {
  return `${path.replace(/\d{4,}/g, 'N')} ${keys.filter((key) => !/^\d+$/.test(key)).join('.')}`;
}

/** The same answer with another value there. */
function withOdd(body: unknown, keys: readonly string[], odd: unknown): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return odd;
  const copy = (Array.isArray(body) ? [...body] : { ...(body as object) }) as Record<string, unknown>;
  copy[key] = withOdd(copy[key], rest, odd);
  return copy;
}

function oddFor(value: unknown): unknown[] {
  return typeof value === 'string' ? [7, {}, []] : ['odd', 2 ** 64 - 1, 1e308, {}];
}

/** The first round after a start with this service: what is shown then, by series, and the first failure. */
async function shownWith(source: Source, service: (path: string) => unknown) {
  const { entry, failure } = await round(source, oddApi(service), undefined, { now: NOW });
  const families = shownOf(source, entry, NOW);
  expectShowable(families, NOW);
  const samples = families.flatMap(({ name, samples }) => [...samples].map((one) => ({ ...one, name })));
  return {
    failure,
    series: new Map(samples.map(({ name, labels, value }) => [`${name} ${JSON.stringify(labels)}`, value])),
  };
}

/** Counts and times of records, which one record less changes, and texts in labels. */
const OF_SEVERAL = /_(by_status|online|offline|duties|total|timestamp_seconds|info) |_epoch |slashings?_|machines /;

/** The fields without which an answer says nothing, of when or of what it is, or nobody knows where it goes on. */
const NEEDED = /range\.epoch\.end$|data\.(period|validators)$|attesterslashings data\.|paging\.next_cursor$/;

describe('every field of every answer', PATIENT, () => {
  it.each(SOURCES)('%s: an odd one costs itself, and the state can be read back', async (_, source) => {
    const good = subjectOf(source).service(NOW);
    const asked = new Set<string>();
    const whole = await shownWith(source, (path) => {
      asked.add(path);
      return good(path);
    });
    const places = [...asked].flatMap((path) => leavesIn(path, good(path)));
    const failing = new Set<string>();
    for (const place of new Map(places.toReversed().map((one) => [nameOf(one), one])).values()) {
      for (const odd of oddFor(place.value)) {
        const service = (path: string) => (path === place.path ? withOdd(good(path), place.keys, odd) : good(path));
        const { failure, series } = await shownWith(source, service);
        if (failure) failing.add(nameOf(place));
        for (const [key, value] of series)
          if (!OF_SEVERAL.test(key))
            expect([nameOf(place), odd, key, whole.series.get(key)]).toEqual([nameOf(place), odd, key, value]);
      }
    }
    expect([...failing].filter((one) => !NEEDED.test(one))).toEqual([]);
  });
});

const RECORDS: readonly (readonly [string, z.ZodType, Record<string, unknown>])[] = [
  ['of a system', SystemRecord, systemRecord()],
  ['of a validator', ValidatorRecord, validatorRecord()],
  ['of a node', NodeRecord, nodeRecord()],
  ['of a day', Datapoint, datapoint()],
  ['of a slot', SlotRow, row({ slot: 12_960_000 })],
  ['of a slashing', AttesterSlashing, slashing(12_960_000, [1, 2, 3])],
];

describe('fuzz records', PATIENT, () => {
  it.each(RECORDS)('a record %s costs its neighbours nothing, whatever it holds', async (_, schema, good) => {
    const expected = schema.parse(good);
    await fc.assert(
      fc.asyncProperty(mutations(), fc.nat(2), async (changes, place) => {
        const items: unknown[] = [good, good];
        items.splice(place, 0, JSON.parse(JSON.stringify(mutated(good, changes))));
        const read = oddApi(() => undefined).records('machine_metrics', schema, items);
        expect(read.length === 3 ? read.toSpliced(place, 1) : read).toEqual([expected, expected]);
      }),
      cases(50),
    );
  });
});
