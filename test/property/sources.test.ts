import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { Datapoint } from '../../src/api/answers/daily-returns.ts';
import { NodeRecord, SystemRecord, ValidatorRecord } from '../../src/api/answers/machines.ts';
import { AttesterSlashing, SlotRow } from '../../src/api/answers/slots.ts';
import { RequestFailed } from '../../src/api/errors.ts';
import { CHAINS, EPOCHS_PER_SYNC_COMMITTEE_PERIOD, epochAt, SECONDS_PER_EPOCH } from '../../src/facts/chain.ts';
import { emptyEntry, entrySchema } from '../../src/scheduler/entry.ts';
import { nextPollAt } from '../../src/scheduler/polls.ts';
import { dailyReturnsSource } from '../../src/sources/daily-returns/index.ts';
import { machinesSource } from '../../src/sources/machines/index.ts';
import { networkSource } from '../../src/sources/network/index.ts';
import { slashingsSource } from '../../src/sources/slashings/index.ts';
import type { Source } from '../../src/sources/source.ts';
import { syncCommitteeSource } from '../../src/sources/sync-committee/index.ts';
import { validatorsSource } from '../../src/sources/validators/index.ts';
import type { Family } from '../../src/toolkit/exposition/family.ts';
import { datapoint, dayAfter, returnsPage } from '../support/answers/datapoint.ts';
import {
  machinesOptions,
  machinesPage,
  nodeRecord,
  systemRecord,
  validatorRecord,
} from '../support/answers/machine-records.ts';
import { NETWORK_PERFORMANCE, QUEUES } from '../support/answers/network-answers.ts';
import { askedFor, type ChainView, epochRows, listOf, row, slashing, slotAt } from '../support/answers/slot-rows.ts';
import { membersAnswer, validatorRow, validatorsAnswer, validatorsOptions } from '../support/answers/validators.ts';
import { encodeFamilies } from '../support/exposition/encode.ts';
import { parseExposition } from '../support/exposition/exposition-parser.ts';
import { sampleValue } from '../support/exposition/samples.ts';
import { slashingsOptions } from '../support/runs/slashings-options.ts';
import { HOUR, MINUTE, NOW, noSignal, timing } from '../support/time/timing.ts';
import { cases, PATIENT } from '../support/vitest/fuzz.ts';
import { type Fault, fault, mutated, mutations, oddApi } from './odd.ts';

/** A source, a service that answers well, and what is right after some good answers. */
interface Subject {
  readonly source: Source<unknown>;
  /** The body of the good answer for a path, at a time. undefined: there is none. */
  readonly service: (now: number) => (path: string) => unknown;
  /** How many good answers lead to `right`. */
  readonly calm: number;
  /** Series that never step back. */
  readonly grow: readonly string[];
  /** The series that are right, at a time. */
  readonly right: (now: number) => Readonly<Record<string, number>>;
}

function subject<T>(source: Source<T>, rest: Omit<Subject, 'source'>): Subject {
  return { source: source as unknown as Source<unknown>, ...rest };
}

const { genesis } = CHAINS.mainnet;
const PERIOD = Math.floor(epochAt('mainnet', NOW) / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
const period = { start: PERIOD * 256, end: PERIOD * 256 + 255 };

const SUBJECTS: Readonly<Record<string, Subject>> = {
  machines: subject(machinesSource(machinesOptions({ expected: ['never'] })), {
    service: (now) => () => {
      const timestamp = now - 20_000;
      const system = [systemRecord({ timestamp, cpu_cores: 7 }), systemRecord({ timestamp, machine: 'node-b' })];
      return machinesPage({ system, validator: [validatorRecord({ timestamp })], node: [nodeRecord({ timestamp })] });
    },
    calm: 1,
    grow: [],
    right: () => ({ 'machine_cpu_cores machine=node-a': 7, 'machine_peers machine=node-a': 97 }),
  }),
  'daily returns': subject(dailyReturnsSource('mainnet', HOUR), {
    // The first poll sees day 2126, the last one after the trouble day 2127.
    service: (now) => (path) =>
      path.includes('eth-store') ? undefined : returnsPage(dayAfter(25), dayAfter(now > NOW + 4.5 * MINUTE ? 27 : 26)),
    calm: 5,
    grow: ['daily_return_day'],
    right: () => ({ daily_return_day: 2127, 'daily_return_apr_ratio layer=consensus': 0.027635714286 }),
  }),
  'sync committee': subject(syncCommitteeSource('mainnet', HOUR), {
    service: () => () => {
      const start = genesis + period.start * SECONDS_PER_EPOCH;
      const timestamp = { start, end: start + 256 * SECONDS_PER_EPOCH - 1 };
      return { data: { period: PERIOD, validators: [1, 2] }, range: { epoch: period, timestamp } };
    },
    calm: 1,
    grow: ['sync_committee_period'],
    right: () => ({ sync_committee_period: PERIOD, sync_committee_start_epoch: period.start }),
  }),
  slashings: subject(slashingsSource(slashingsOptions({ catchUpMs: HOUR })), {
    // The first slot of every epoch announces a slashing of three validators.
    service: (now) => (path) => {
      const latest = epochAt('mainnet', now);
      const begun = slotAt('mainnet', now) - latest * 32 + 1;
      const rows = (epoch: number) =>
        epochRows(epoch, { 0: { attesterslashingscount: 1 } }, epoch === latest ? begun : 32);
      const chain: ChainView = {
        latest,
        finalized: latest - 2,
        rows: (epoch) => (epoch > latest ? undefined : rows(epoch)),
        records: (slot) => [slashing(slot, [1, 2, slot])],
        proposerRecords: () => [],
      };
      const data = listOf(chain, askedFor(path));
      return data && { status: 'OK', data };
    },
    calm: 12,
    grow: ['scanned_epoch', 'slots_total status=proposed', 'skipped_epochs_total'],
    right: (now) => {
      const latest = epochAt('mainnet', now);
      const times = { last_attester_slashing_timestamp_seconds: genesis + latest * SECONDS_PER_EPOCH };
      return {
        head_epoch: latest,
        finalized_epoch: latest - 2,
        scanned_epoch: latest - 2,
        head_slot: slotAt('mainnet', now),
        ...times,
      };
    },
  }),
  network: subject(networkSource({ chain: 'mainnet', intervalMs: HOUR, weight: 0.1 }), {
    service: (now) => (path) => {
      const range = { epoch: { start: 1, end: epochAt('mainnet', now) } };
      return path.endsWith('/queues') ? QUEUES : { ...NETWORK_PERFORMANCE, range };
    },
    calm: 1,
    grow: [],
    // As below.
    right: () => ({}),
  }),
  validators: subject(validatorsSource(validatorsOptions({ syncCommittee: true })), {
    service: (now) => (path) => {
      const rows = Array.from({ length: 12 }, (_, i) => validatorRow(i + 1));
      return path.includes('/v1/') ? membersAnswer(PERIOD, [1, 2]) : validatorsAnswer(epochAt('mainnet', now), rows);
    },
    calm: 1,
    grow: [],
    // A part that the service refuses is off until the next day.
    right: () => ({}),
  }),
};

/** `name label=value` */
function shownValue(families: readonly Family[], series: string): number | undefined {
  const [name, label] = series.split(' ');
  const [key = '', value = ''] = label?.split('=') ?? [];
  return sampleValue(families, `beaconchain_${name}`, label ? { [key]: value } : undefined);
}

/** Polls as the scheduler does: an error leaves the value as it was. */
async function pollOnce({ source, service }: Subject, faults: readonly Fault[], before: unknown, now: number) {
  try {
    const { value, failure } = await source.poll(
      oddApi(service(now), faults, now),
      before,
      timing({ now }),
      noSignal(),
    );
    if (failure) expect(failure).toBeInstanceOf(RequestFailed);
    return value;
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    return before;
  }
}

/** Saves the value and reads it again, as the next process does. */
function saved<T>(source: Source<T>, value: T): T {
  const written = JSON.parse(JSON.stringify({ ...emptyEntry(source), value }));
  const read = entrySchema(source).parse(written);
  expect(JSON.parse(JSON.stringify(read))).toEqual(written);
  return read.value;
}

/** Fails if a sample is not a number or a counter is negative. */
function expectShowable(families: readonly Family[]): void {
  const read = parseExposition(Buffer.from(encodeFamilies(families, 'text')).toString());
  for (const { metadata, samples } of read) {
    for (const { name, value } of samples) {
      expect(Number.isFinite(value), `${name} ${value}`).toBe(true);
      if (metadata['TYPE'] === 'counter') expect(value, name).toBeGreaterThanOrEqual(0);
    }
  }
}

/** Polls with these faults, and then `calm` times without. Returns the last value and its time. */
async function polled(one: Subject, faults: readonly Fault[][]): Promise<{ value: unknown; now: number }> {
  const { source, grow, calm } = one;
  let [now, value] = [NOW, source.empty];
  const before = new Map<string, number>();
  for (const ofPoll of [...faults, ...Array.from<Fault[]>({ length: calm }).fill([])]) {
    now += MINUTE;
    value = saved(source, await pollOnce(one, ofPoll, value, now));
    const families = source.families(value, timing({ now }));
    expectShowable(families);
    for (const series of grow) {
      const shown = shownValue(families, series) ?? 0;
      expect(shown, series).toBeGreaterThanOrEqual(before.get(series) ?? 0);
      before.set(series, shown);
    }
  }
  return { value, now };
}

/** A few polls, each with the faults of its first requests. */
const trouble: fc.Arbitrary<Fault[][]> = fc.array(fc.array(fault, { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 4,
});

describe('fuzz sources', PATIENT, () => {
  it.each(Object.entries(SUBJECTS))(
    '%s: nothing odd is shown or steps back, whatever is answered, and good answers set it right',
    async (_, one) => {
      await fc.assert(
        fc.asyncProperty(trouble, async (faults) => {
          const { value, now } = await polled(one, faults);
          const families = one.source.families(value, timing({ now }));
          for (const [series, right] of Object.entries(one.right(now)))
            expect(shownValue(families, series), series).toBe(right);
        }),
        cases(50),
      );
    },
  );

  it.each(Object.entries(SUBJECTS))(
    '%s: a saved state that is not refused can be shown and planned with',
    async (_, one) => {
      const source = one.source as unknown as Source;
      const { value, now } = await polled(one, []);
      const entry = {
        ...emptyEntry(source),
        value,
        lastAttemptAt: now,
        durationMs: 900,
        pausedUntil: now,
        costs: [1, 2],
      };
      fc.assert(
        fc.property(mutations(), (changes) => {
          const parsed = entrySchema(source).safeParse(mutated(entry, changes));
          if (!parsed.success) return;
          const at = timing({ now, intervalMs: Math.max(MINUTE, parsed.data.intervalMs ?? 0) });
          expectShowable(source.families(parsed.data.value, at));
          expect(source.nextChange(parsed.data.value, at)).toBeGreaterThan(now);
          expect(nextPollAt(source, parsed.data, at, 0)).toBeLessThan(Number.POSITIVE_INFINITY);
        }),
        cases(60),
      );
    },
  );
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
