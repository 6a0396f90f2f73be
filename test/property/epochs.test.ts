import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { epochEnd, epochTime, MS_PER_EPOCH, SLOTS_PER_EPOCH } from '../../src/facts/chain.ts';
import { watchedGroups } from '../../src/facts/groups.ts';
import { indicesOf, watchOf } from '../../src/facts/watch.ts';
import { contentOf } from '../../src/sandbox/answer.ts';
import { dutiesIn } from '../../src/sandbox/epoch-duties.ts';
import { validatorAt } from '../../src/sandbox/validator.ts';
import { ETHER, type Validator } from '../../src/sandbox/validators-world.ts';
import { Sandbox } from '../../src/sandbox/world.ts';
import { doubtingRefusals, type Entry, emptyEntry } from '../../src/scheduler/entry.ts';
import { validatorsSource } from '../../src/sources/validators/index.ts';
import type { ValidatorsOptions } from '../../src/sources/validators/options.ts';
import type { Validators } from '../../src/sources/validators/state.ts';
import { dutiesOf, rewardsOf } from '../simulation/service/epoch-truth.ts';
import { validatorsOptions } from '../support/answers/validators.ts';
import { round, scheduleAt } from '../support/runs/round.ts';
import { MINUTE } from '../support/time/timing.ts';
import { cases, PATIENT } from '../support/vitest/fuzz.ts';
import { apiOf, type Written } from './odd.ts';

const FIRST = 444_375;
const PARTS = ['epoch_duties', 'epoch_rewards'] as const;
type Part = (typeof PARTS)[number];

/** Lists of validators by group. */
const LISTS: readonly (readonly (readonly [group: string | undefined, first: number, last: number])[])[] = [
  [[undefined, 1, 14]],
  [[undefined, 1, 24]],
  [
    ['east', 1, 11],
    ['west', 12, 24],
  ],
  [
    ['east', 5, 24],
    [undefined, 1, 4],
  ],
];

function optionsOf(list: number): ValidatorsOptions {
  const named = LISTS[list % LISTS.length] ?? [];
  const rangesOf = (of: typeof named) => watchOf(of.map(([, first, last]) => ({ first, last })));
  const groups = named.flatMap((one) => (one[0] === undefined ? [] : [{ name: one[0], watch: rangesOf([one]) }]));
  const watch = rangesOf(named);
  const parts = { syncCommittee: true, epochs: true, rewards: false } as const;
  return validatorsOptions({ watch, groups: watchedGroups(watch, groups), ...parts });
}

/** What happens in a step. */
interface Step {
  readonly what: 'good' | 'kill' | 'restart' | 'reload';
  readonly list: number;
  /** The fault of each request, in order. */
  readonly faults: readonly Fault[];
  readonly afterMinutes: number;
  /** By how many epochs finality has advanced. */
  readonly epochs: number;
}

const FAULTS = [
  'good',
  'good',
  'good',
  'away',
  'server_error',
  'late',
  'not_final',
  'other',
  'cut',
  'bad_request',
] as const;
type Fault = (typeof FAULTS)[number];

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom('good', 'good', 'kill', 'restart', 'reload'),
  list: fc.nat(3),
  faults: fc.array(fc.constantFrom(...FAULTS), { maxLength: 12 }),
  afterMinutes: fc.integer({ min: 1, max: 9 }),
  epochs: fc.nat(3),
});

const SERVICE = { 'x-beaconchain-version': '1' };

/** `other`: the answer about the previous epoch. */
function faulty(fault: Fault, good: Written, other: Written): Written | 'away' {
  switch (fault) {
    case 'good':
      return good;
    case 'away':
      return 'away';
    case 'server_error':
      return { status: 500, body: '' };
    case 'late':
      return { status: 404, headers: SERVICE, body: '{"error":"not yet"}' };
    case 'bad_request':
      return { status: 400, headers: SERVICE, body: '{"error":"no"}' };
    case 'not_final': {
      const earlier = good.body.replaceAll(/"(reward|included)":("?)\d+/g, '"$1":$20');
      return { ...good, body: earlier.replaceAll('"finalized"', '"not_finalized"') };
    }
    case 'other':
      return other;
    case 'cut':
      return { ...good, body: good.body.slice(0, good.body.length / 2) };
  }
}

function worldOf(seed: number, events: readonly number[]): Sandbox {
  const watched = { validators: { mainnet: [1, 5, 9, 12], hoodi: [] }, slots: 16 };
  const sandbox = new Sandbox({ seed: `${seed}`, plan: { perSecond: 1e6 }, slotsPerSlashing: 200, watched });
  const world = sandbox.chains.mainnet;
  const drawn = (index: number): Validator => validatorAt(world, index, FIRST) as Validator;
  // A large validator joins, another leaves, and all of one chunk have left.
  const large = { current: 2_048n * ETHER, effective: 2_048n * ETHER };
  world.validators.push({ ...drawn(3), life: { ...drawn(3).life, activation: FIRST + 4 }, balances: large });
  world.validators.push({ ...drawn(9), life: { ...drawn(9).life, exit: FIRST + 6, withdrawable: FIRST + 300 } });
  for (let index = 22; index <= 24; index += 1)
    world.validators.push({
      ...drawn(index),
      life: { ...drawn(index).life, exit: FIRST - 99, withdrawable: FIRST + 99 },
    });
  for (const one of events) {
    const epoch = FIRST + (one % 30);
    const [from, until] = [epochTime('mainnet', epoch) * 1000, epochTime('mainnet', epoch + 1 + (one % 3)) * 1000];
    world.silences.push({ validator: (one % 24) + 1, from, until });
    world.missed.set(epoch * SLOTS_PER_EPOCH + (one % 32), [1, 5, 12][one % 3] as number);
  }
  return sandbox;
}

/** The name of a counter in the state. */
function nameOf(counter: string): string {
  return counter.replace(/^(\w+?)(?:_rewards)?_ether_total \w+="(\w+)"$/, '$1 $2').replace(/^\w+ \w+="(\w+)"$/, '$1');
}

/** The sums of the world by group and counter. The exporter shares no code with this. */
function expectedOf(sandbox: Sandbox, counted: ReadonlyMap<string, string>, part: Part) {
  const world = sandbox.chains.mainnet;
  const sums: Record<string, bigint> = {};
  const byEpoch = Map.groupBy(counted, ([pair]) => Number(pair.split(' ')[0]));
  for (const [epoch, pairs] of byEpoch) {
    const validators = pairs.map(([pair]) => validatorAt(world, Number(pair.split(' ')[1]), epoch) as Validator);
    const duties = dutiesIn(world, validators, epoch);
    pairs.forEach(([, group], i) => {
      const own = duties[i];
      if (!own || own.assigned + own.seats === 0) return;
      const effective = validators[i]?.balances.effective ?? 0n;
      const added = part === 'epoch_duties' ? dutiesOf(own) : rewardsOf(own, effective);
      for (const [counter, amount] of Object.entries(added)) {
        const key = `${group} ${nameOf(counter)}`;
        sums[key] = (sums[key] ?? 0n) + amount;
      }
    });
  }
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n));
}

function totalsOf(value: Validators, part: Part): Record<string, bigint> {
  const groups = value[part]?.groups ?? [];
  const all = groups.flatMap(({ group, totals }) =>
    Object.entries(totals).map(([name, sum]) => [`${group} ${name}`, BigInt(sum)] as const),
  );
  return Object.fromEntries(all.filter(([, sum]) => sum !== 0n));
}

describe('fuzz epochs', PATIENT, () => {
  it('counts every epoch and validator exactly once, to the wei, through late answers, kills and reloads', async () => {
    let requests = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1_000_000),
        fc.array(fc.nat(10_000), { maxLength: 8 }),
        fc.array(step, { minLength: 3, maxLength: 14 }),
        async (seed, events, steps) => {
          const sandbox = worldOf(seed, events);
          let [options, finalized, now] = [optionsOf(seed), FIRST, epochEnd('mainnet', FIRST) + 2 * MS_PER_EPOCH];
          let entry: Entry<Validators> = emptyEntry(validatorsSource(options));
          let tried: Set<string> = new Set();
          const counted = { epoch_duties: new Map<string, string>(), epoch_rewards: new Map<string, string>() };
          const play = async ({ what, faults }: Pick<Step, 'what' | 'faults'>) => {
            const source = validatorsSource(options);
            const queue = [...faults];
            const api = apiOf(({ method, path, headers, body = '' }) => {
              const good = contentOf(sandbox, { method, path, headers, body }, 'mainnet', now);
              const part = path.endsWith('performance-list')
                ? PARTS[0]
                : path.endsWith('rewards-list')
                  ? PARTS[1]
                  : undefined;
              if (!part) return good;
              requests += 1;
              const before = JSON.stringify({ ...JSON.parse(body), epoch: JSON.parse(body).epoch - 1 });
              const other = contentOf(sandbox, { method, path, headers, body: before }, 'mainnet', now);
              return faulty(queue.shift() ?? 'good', { ...good, headers: SERVICE }, { ...other, headers: SERVICE });
            }, now);
            const finality = { at: epochEnd('mainnet', finalized), readAt: now };
            const after = await round(source, api, entry, { now, inputs: { finality }, tried });
            if (what === 'kill') return;
            for (const part of PARTS) {
              const [before, saved] = [entry.value[part], after.value[part]];
              const add = (epoch: number, validators: Iterable<number>): void => {
                for (const one of validators) {
                  const group = options.groups.find(({ watch }) => [...indicesOf(watch)].includes(one))?.group;
                  const pair = `${epoch} ${one}`;
                  if (!counted[part].has(pair)) counted[part].set(pair, String(group));
                }
              };
              const from = before?.cursor ?? finalized - 1;
              for (let epoch = from + 1; epoch <= (saved?.cursor ?? from); epoch += 1)
                add(epoch, indicesOf(options.watch));
              add((saved?.cursor ?? from) + 1, indicesOf(saved?.done ?? []));
            }
            entry = after.entry;
            for (const name of after.ran) tried.add(name);
          };
          for (const one of steps) {
            now += one.afterMinutes * MINUTE;
            finalized += one.epochs;
            now = Math.max(now, epochEnd('mainnet', finalized) + 2 * MS_PER_EPOCH);
            await play(one);
            if (one.what === 'kill' || one.what === 'restart' || one.what === 'reload') {
              tried = new Set();
              entry = doubtingRefusals(validatorsSource(options), entry);
            }
            if (one.what === 'reload') options = optionsOf(one.list);
          }
          for (let i = 0; i < 40; i += 1) {
            const { reads } = scheduleAt(validatorsSource(options), entry, now);
            now = Math.max(now + 1, Math.min(...reads.map(({ nextAttemptAt }) => nextAttemptAt)));
            await play({ what: 'good', faults: [] });
            if (PARTS.every((part) => entry.value[part]?.cursor === finalized && i > 5)) break;
          }
          for (const part of PARTS) {
            const { cursor, skipped, unread } = entry.value[part] ?? {};
            expect([part, cursor, skipped, unread]).toEqual([part, finalized, 0, 0]);
            expect(totalsOf(entry.value, part)).toEqual(expectedOf(sandbox, counted[part], part));
          }
        },
      ),
      cases(15),
    );
    expect(requests).toBeGreaterThan(0);
  });
});
