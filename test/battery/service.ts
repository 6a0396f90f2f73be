import { expect } from 'vitest';
import { RequestFailed } from '../../src/api/errors.ts';
import type { WireRequest } from '../../src/api/transport.ts';
import { epochAt, epochEnd, SLOTS_PER_EPOCH } from '../../src/facts/chain.ts';
import { contentOf } from '../../src/sandbox/answer.ts';
import { finalizedEpoch } from '../../src/sandbox/chain-world.ts';
import { publicKeyOf } from '../../src/sandbox/validator.ts';
import { Sandbox } from '../../src/sandbox/world.ts';
import { type Entry, emptyEntry } from '../../src/scheduler/entry.ts';
import { inputsFor } from '../../src/scheduler/schedules.ts';
import type { Inputs } from '../../src/sources/read.ts';
import { ConfigFile, sourcesOf } from '../../src/sources/registry.ts';
import type { Source } from '../../src/sources/source.ts';
import type { Family } from '../../src/toolkit/exposition/family.ts';
import { apiOf, type Written } from '../property/odd.ts';
import { round, scheduleAt } from '../support/runs/round.ts';
import { MINUTE, NOW } from '../support/time/timing.ts';

const KEYED = publicKeyOf(new Sandbox().chains.mainnet, 12);

/** Two groups, so that every read of validators sends more than one request. One validator is known by its key alone. */
const CONFIG = {
  machines: { expected: ['never'] },
  groups: { east: { validators: ['1-6'] }, west: { validators: ['7-11', KEYED] } },
  validators: { epochs: true, fee_recipients: [`0x${'0'.repeat(40)}`] },
  slashings: { interval: '1m' },
};
const WATCHED = Array.from({ length: 12 }, (_, i) => i + 1);

/** Every source of the registry. */
export const SOURCES = sourcesOf(ConfigFile.parse(CONFIG));

/** A bit more than an epoch. */
export const BETWEEN = 7 * MINUTE;

/** Every epoch has a slashing of both kinds and a missed proposal. One watched validator is slashed, and one is offline. */
function worldOf(): Sandbox {
  const watched = { validators: { mainnet: WATCHED, hoodi: [] }, slots: 8 };
  const world = new Sandbox({ machines: 3, slotsPerSlashing: Number.POSITIVE_INFINITY, watched });
  const { mainnet } = world.chains;
  const now = epochAt('mainnet', NOW);
  for (let epoch = now - 60; epoch < now + 60; epoch += 1) {
    mainnet.slashed.attester.set(epoch * SLOTS_PER_EPOCH, [epoch === now - 1 ? 3 : 1_000 + epoch]);
    mainnet.slashed.proposer.set(epoch * SLOTS_PER_EPOCH + 1, [2_000 + epoch]);
    mainnet.missed.set(epoch * SLOTS_PER_EPOCH + 2, 5);
  }
  mainnet.silences.push({ validator: 9, from: NOW - 100 * BETWEEN, until: Number.POSITIVE_INFINITY });
  return world;
}

const WORLD = worldOf();
const said = new Map<string, Written>();

/** The world's answer to a request at a time, Unix ms. */
export function worldSays({ method, path, headers, body = '' }: WireRequest, now: number): Written {
  const key = `${now} ${path} ${body}`;
  const known = said.get(key) ?? contentOf(WORLD, { method, path, headers, body }, 'mainnet', now);
  said.set(key, known);
  return known;
}

/** A request, and its answer when nothing is wrong. */
export interface Exchange {
  readonly read: string;
  readonly request: WireRequest;
  readonly now: number;
  readonly good: Written;
}

/** The answer in place of the good one. Undefined: the good one. 'away': none. */
export type Disturbance = (exchange: Exchange) => Written | 'away' | undefined;

export interface Turn {
  /** By the clock of the program. */
  readonly now: number;
  /** By the clock of the service. Default: `now`. */
  readonly worldNow?: number;
  readonly disturbance?: Disturbance | undefined;
  /** Reads that are not tried. */
  readonly without?: readonly string[];
}

export interface Lived {
  readonly entry: Entry;
  readonly failure: Error | undefined;
  readonly exchanges: readonly Exchange[];
  /** How many records are reported as odd or dropped. */
  readonly invalid: number;
}

/** One round in which every read is due, unless it is refused. */
export async function turn(
  source: Source,
  before: Entry,
  { now, worldNow = now, disturbance, without = [] }: Turn,
): Promise<Lived> {
  let running = '';
  let invalid = 0;
  const exchanges: Exchange[] = [];
  const reads = source.reads.map((read) => ({
    ...read,
    run: (context, value) => {
      running = read.name;
      if (without.includes(read.name)) throw new RequestFailed(read.endpoints[0], 'network', 'not tried');
      return read.run(context, value);
    },
  })) satisfies Source['reads'][number][];
  const told = { ...source, reads: reads as unknown as Source['reads'] };
  const api = apiOf(
    (request) => {
      const exchange = { read: running, request, now, good: worldSays(request, worldNow) };
      exchanges.push(exchange);
      return disturbance?.(exchange) ?? exchange.good;
    },
    now,
    (_, count) => {
      invalid += count;
    },
  );
  const attempts = Object.entries(before.reads).map(([name, one]) => [name, { ...one, isDueNow: true as const }]);
  const entry = { ...before, reads: Object.fromEntries(attempts) };
  // A jump of the clock has not held.
  const time = { now, held: Math.min(now, worldNow) };
  const { entry: after, failure } = await round(told, api, entry, {
    ...time,
    inputs: inputsOf(source, worldNow) ?? {},
  });
  return { entry: after, failure, exchanges, invalid };
}

/** Several turns, one after the other. */
export async function lived(source: Source, turns: readonly Turn[], before = emptyEntry(source)): Promise<Lived> {
  let last: Lived = { entry: before, failure: undefined, exchanges: [], invalid: 0 };
  for (const one of turns) last = await turn(source, last.entry, one);
  return last;
}

/** Turns without a disturbance. */
export function goodTurns(count: number, from = NOW): Turn[] {
  return Array.from({ length: count }, (_, i) => ({ now: from + i * BETWEEN }));
}

const given = new Map<Source, Inputs>();

/** The inputs from the other sources of the chain after a good start, with the newest final epoch. */
function inputsOf(source: Source, now: number): Inputs | undefined {
  const inputs = given.get(source);
  const at = epochEnd('mainnet', finalizedEpoch(WORLD.chains.mainnet, now));
  return inputs?.finality ? { ...inputs, finality: { at, readAt: now } } : inputs;
}

export async function start(): Promise<void> {
  const known = await Promise.all(
    SOURCES.map(async (source) => ({ source, saved: (await lived(source, goodTurns(1))).entry })),
  );
  for (const { source } of known) given.set(source, inputsFor(source, known));
}

export interface Shown {
  readonly value: number;
  readonly until: number;
  readonly isCounter: boolean;
}

export function familiesOf(source: Source, entry: Entry, now: number): Family[] {
  const { timing, inputs } = scheduleAt(source, entry, now);
  return source.metrics(entry.value, timing, inputsOf(source, now) ?? inputs);
}

/** What a source shows at a time, by series. */
export function shownOf(source: Source, entry: Entry, now: number): Map<string, Shown> {
  const samples = familiesOf(source, entry, now).flatMap(({ name, type, samples }) =>
    [...samples].map(({ labels, value, until = Number.POSITIVE_INFINITY }): [string, Shown] => [
      `${name} ${Object.values(labels).join(' ')}`,
      { value, until, isCounter: type === 'counter' },
    ]),
  );
  return new Map(samples);
}

/** Fails if a sample is no finite number, a counter is negative, or a sample has already expired. */
export function expectShowable(shown: ReadonlyMap<string, Shown>, now: number): void {
  for (const [series, { value, until, isCounter }] of shown) {
    expect(Number.isFinite(value), `${series} ${value}`).toBe(true);
    if (isCounter) expect(value, series).toBeGreaterThanOrEqual(0);
    expect(until, series).toBeGreaterThan(now);
  }
}
