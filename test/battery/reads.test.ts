import { describe, expect, it } from 'vitest';
import { type Definition, ENDPOINTS } from '../../src/api/endpoints.ts';
import { RequestFailed } from '../../src/api/errors.ts';
import type { WireRequest } from '../../src/api/transport.ts';
import { MS_PER_EPOCH } from '../../src/facts/chain.ts';
import { doubtingRefusals, type Entry, emptyEntry, sourceId } from '../../src/scheduler/entry.ts';
import type { Read } from '../../src/sources/read.ts';
import type { Source } from '../../src/sources/source.ts';
import type { Written } from '../property/odd.ts';
import { expectFirstChange } from '../support/exposition/first-change.ts';
import { DAY, HOUR, MINUTE, NOW } from '../support/time/timing.ts';
import { leavesIn, nameOf, type Place, withValue } from './places.ts';
import {
  BETWEEN,
  type Disturbance,
  type Exchange,
  expectShowable,
  familiesOf,
  goodTurns,
  type Lived,
  lived,
  type Shown,
  SOURCES,
  shownOf,
  start,
  type Turn,
  turn,
  worldSays,
} from './service.ts';

/** The number of turns that may be disturbed, and of all turns. At the end even a pause of an hour is over. */
const [STARTING, TURNS] = [3, 16];

type Series = ReadonlyMap<string, Shown>;

/** A read of a source in a world in which nothing goes wrong. */
interface Subject {
  readonly source: Source;
  readonly read: Read<unknown>;
  /** After each turn. */
  readonly whole: readonly Lived[];
  /** The last of the first turns in which it sends requests. */
  readonly at: number;
  readonly asked: readonly Exchange[];
  /** The series that it alone gives after its first run. */
  readonly own: Series;
}

const timeOf = (index: number): number => NOW + index * BETWEEN;

await start();
const SUBJECTS: readonly Subject[] = (await Promise.all(SOURCES.map(subjectsOf))).flat();

async function subjectsOf(source: Source): Promise<Subject[]> {
  const whole: Lived[] = [];
  for (const one of goodTurns(TURNS)) whole.push(await turn(source, whole.at(-1)?.entry ?? emptyEntry(source), one));
  const nothing = shownOf(source, emptyEntry(source), NOW);
  const subjects = source.reads.map(async (read) => {
    const askedIn = (index: number) => whole[index]?.exchanges.filter((one) => one.read === read.name) ?? [];
    const at = Array.from({ length: STARTING }, (_, i) => i).findLast((index) => askedIn(index).length > 0) ?? 0;
    const alone = await turn(source, emptyEntry(source), { now: NOW, without: siblingsOf(source, read) });
    const shown = shownOf(source, alone.entry, NOW);
    const own = new Map([...shown].filter(([series, { value }]) => nothing.get(series)?.value !== value));
    return { source, read, whole, at, asked: askedIn(at), own };
  });
  return Promise.all(subjects);
}

function siblingsOf({ reads }: Source, read: Read<unknown>): string[] {
  return reads.flatMap(({ name }) => (name === read.name ? [] : [name]));
}

function entryBefore({ source, whole }: Subject, index: number): Entry {
  return whole[index - 1]?.entry ?? emptyEntry(source);
}

function wholeAt({ source, whole }: Subject, index: number): Series {
  return shownOf(source, (whole[index] as Lived).entry, timeOf(index));
}

/** Fails if a sample may not be shown, or a counter has stepped back. */
function expectSound(shown: Series, before: Series, now: number): void {
  expectShowable(shown, now);
  for (const [series, { value, isCounter }] of shown)
    if (isCounter) expect(value, series).toBeGreaterThanOrEqual(before.get(series)?.value ?? 0);
}

async function checked({ source }: Subject, before: Entry, one: Turn): Promise<Lived> {
  const after = await turn(source, before, one);
  if (after.failure) expect(after.failure).toBeInstanceOf(RequestFailed);
  expectSound(shownOf(source, after.entry, one.now), shownOf(source, before, one.now), one.now);
  return after;
}

/** A turn in which only this read is disturbed. */
function disturbed(subject: Subject, at: number, disturbance: Disturbance, before = entryBefore(subject, at)) {
  return checked(subject, before, { now: timeOf(at), disturbance: ofRead(subject, disturbance) });
}

function ofRead({ read }: Subject, disturbance: Disturbance): Disturbance {
  return (one) => (one.read === read.name ? disturbance(one) : undefined);
}

/** Reloads, and plays good turns from `from` to `to`. Fails if the series differ from those without any disturbance. */
async function expectRight(subject: Subject, entry: Entry, from: number, to = from + 5): Promise<void> {
  const { source } = subject;
  const turns = goodTurns(to - from + 1, timeOf(from));
  const { entry: after } = await lived(source, turns, doubtingRefusals(source, entry));
  expect(values(shownOf(source, after, timeOf(to)))).toEqual(values(wholeAt(subject, to)));
}

function values(series: Series): Record<string, number> {
  return Object.fromEntries([...series].map(([name, { value }]) => [name, value]).sort());
}

interface Row {
  readonly promise: string;
  applies(subject: Subject): boolean;
  holds(subject: Subject): Promise<void>;
}

const away: Disturbance = () => 'away';

/** The answer of `ageMs` ago, if there was one. */
function older(ageMs: number): Disturbance {
  return ({ request, now }) => {
    const answer = worldSays(request, now - ageMs);
    return answer.status === 200 ? answer : undefined;
  };
}

function outOfRange(value: unknown): readonly unknown[] {
  if (typeof value === 'number') return [2 ** 64 - 1, 1e308, -1e308];
  return typeof value === 'string' && /^-?\d+$/.test(value) ? ['9'.repeat(31)] : [];
}

const AGES = [5 * HOUR, 30 * HOUR];
const isAsked = ({ asked }: Subject): boolean => asked.length > 0;

/** The ages at which an answer has an older time. */
function agesOf({ asked }: Subject): number[] {
  return AGES.filter((ageMs) =>
    asked.some(({ request, now, good }) => {
      const before = worldSays(request, now - ageMs);
      return before.status === 200 && timesIn(before) !== timesIn(good);
    }),
  );
}

/** The times in an answer, without estimates. */
function timesIn({ body }: Written): string {
  const times = leavesIn('', JSON.parse(body)).filter(({ keys }) =>
    /^(?!.*estimated).*(range\.epoch.*|day|period|timestamp|epoch)$/.test(keys.join('.')),
  );
  return times.map(({ value }) => value).join();
}

/** Requests to one path that do not follow each other. */
function chunksOf({ asked }: Subject): Exchange[] {
  const [first] = asked;
  // Data that did not exist five hours ago have no older answer.
  const chunks = asked.filter(
    ({ request, now }) => request.path === first?.request.path && worldSays(request, now - 5 * HOUR).status === 200,
  );
  const isSequence = chunks.some(({ request }) => request.body?.includes('"cursor"'));
  return chunks.length > 1 && !isSequence ? chunks : [];
}

/** The fields that an answer needs: its time, the identity of a record, and the cursor. Without them the rest means nothing. */
const NEEDED =
  /range\.epoch\.end$|data\.(period|validators|day|day_end|validator\.index)$|next_cursor$|_metrics\.(machine|timestamp)$|slashings data\.|-list data\.finality$|slots data\.(slot|epoch|status|blockroot|attesterslashingscount)$/;

function keyOf({ path, body = '' }: WireRequest): string {
  return `${path}${body}`;
}

/** The first field of each name in the answers. */
function placesIn(exchanges: readonly Exchange[]): Place[] {
  const all = exchanges.flatMap(({ request, good }) => leavesIn(keyOf(request), JSON.parse(good.body)));
  return [...new Map(all.toReversed().map((place) => [nameOf(place), place])).values()];
}

/** Replaces each field of the first answers by these values. At most two families may differ, one of which accompanies the other. */
async function expectOddCostsItself(
  { source, read }: Subject,
  oddFor: (value: unknown) => readonly unknown[],
): Promise<void> {
  const empty = emptyEntry(source);
  const nothing = shownOf(source, empty, NOW);
  const first = async (disturbance?: Disturbance) => {
    const after = await turn(source, empty, { now: NOW, disturbance, without: siblingsOf(source, read) });
    const shown = shownOf(source, after.entry, NOW);
    expectSound(shown, nothing, NOW);
    return { ...after, shown, failure: after.entry.reads[read.name]?.lastError?.message };
  };
  const whole = await first();
  for (const place of placesIn(whole.exchanges)) {
    for (const odd of oddFor(place.value)) {
      const { shown, failure, invalid } = await first(({ request, good }) =>
        keyOf(request) === place.request ? withValue(good, place.keys, odd) : undefined,
      );
      const name = nameOf(place);
      if (NEEDED.test(name)) continue;
      const differing = [...whole.shown.keys(), ...shown.keys()].filter(
        (series) => shown.get(series)?.value !== whole.shown.get(series)?.value,
      );
      const families = [...new Set(differing.map((series) => series.split(' ')[0]))];
      expect([name, odd, families, failure]).toEqual([name, odd, families.slice(0, 2), undefined]);
      // Counted once a record. Null or absent may be legal, and an unread field is never odd.
      if (families.length > 0 && odd != null) expect([name, odd, invalid]).toEqual([name, odd, 1]);
    }
  }
}

/** The good answer with its lists of records changed. */
function withLists(change: (records: readonly unknown[]) => readonly unknown[]): Disturbance {
  const changed = (value: unknown): unknown => {
    if (Array.isArray(value)) return typeof value[0] === 'object' ? change(value) : value;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, changed(own)]));
  };
  return ({ good }) => ({ ...good, body: JSON.stringify(changed(JSON.parse(good.body))) });
}

function hasLists({ asked }: Subject): boolean {
  return asked.some((one) => (withLists(() => [])(one) as Written).body !== one.good.body);
}

const ROWS: readonly Row[] = [
  {
    promise: 'an odd field costs that field',
    applies: isAsked,
    holds: (subject) => expectOddCostsItself(subject, (value) => (typeof value === 'string' ? [7, []] : ['odd', {}])),
  },
  {
    promise: 'a null or an absent field costs that field',
    applies: isAsked,
    holds: (subject) => expectOddCostsItself(subject, () => [null, undefined]),
  },
  {
    promise: 'a number out of range costs that field',
    applies: isAsked,
    holds: (subject) => expectOddCostsItself(subject, outOfRange),
  },
  {
    promise: 'an answer without a readable record is a failure, not an empty success',
    applies: hasLists,
    async holds(subject) {
      const { source, at } = subject;
      const without = await disturbed(subject, at, away);
      const odd = await disturbed(
        subject,
        at,
        withLists((records) => records.map(() => 7)),
      );
      expect(odd.failure).toBeDefined();
      expect(values(shownOf(source, odd.entry, timeOf(at)))).toEqual(
        values(shownOf(source, without.entry, timeOf(at))),
      );
      await expectRight(subject, odd.entry, at + 1);
    },
  },
  {
    promise: 'a partial answer hides nothing, and the next answers complete it',
    applies: hasLists,
    async holds(subject) {
      const { source, at } = subject;
      const partial = await disturbed(
        subject,
        at,
        withLists((records) => records.slice(0, records.length / 2)),
      );
      const [shown, whole] = [shownOf(source, partial.entry, timeOf(at)), wholeAt(subject, at)];
      const without = shownOf(source, (await disturbed(subject, at, away)).entry, timeOf(at));
      expect([...shown.keys()]).toEqual(expect.arrayContaining([...whole.keys()].filter((one) => without.has(one))));
      const { entry } = await lived(source, goodTurns(TURNS - at - 1, timeOf(at + 1)), partial.entry);
      for (const [series, { value, isCounter }] of shownOf(source, entry, timeOf(TURNS - 1))) {
        const right = wholeAt(subject, TURNS - 1).get(series)?.value;
        if (isCounter) expect(value, series).toBeLessThanOrEqual(right ?? 0);
        else expect([series, value]).toEqual([series, right]);
      }
    },
  },
  {
    promise: 'an older answer changes nothing',
    applies: (subject) => subject.at > 0 && agesOf(subject).length > 0,
    async holds(subject) {
      const { source, at } = subject;
      const without = await disturbed(subject, at, away);
      for (const ageMs of agesOf(subject)) {
        const { entry } = await disturbed(subject, at, older(ageMs));
        expect(values(shownOf(source, entry, timeOf(at)))).toEqual(values(shownOf(source, without.entry, timeOf(at))));
        await expectRight(subject, entry, at + 1);
      }
    },
  },
  {
    promise: 'a late chunk hides nothing of other chunks',
    applies: (subject) => chunksOf(subject).length > 0,
    async holds(subject) {
      const { source } = subject;
      for (const at of [0, subject.at]) {
        for (const { request } of chunksOf(subject)) {
          const only =
            (disturbance: Disturbance): Disturbance =>
            (one) =>
              keyOf(one.request) === keyOf(request) ? disturbance(one) : undefined;
          const failed = await disturbed(
            subject,
            at,
            only(() => ({ status: 500, body: '' })),
          );
          const late = await disturbed(subject, at, only(older(5 * HOUR)));
          const shown = values(shownOf(source, late.entry, timeOf(at)));
          expect(shown).toEqual({ ...shown, ...values(shownOf(source, failed.entry, timeOf(at))) });
          // The offline time of a validator depends on the first answer.
          if (at > 0) await expectRight(subject, late.entry, at + 1);
        }
      }
    },
  },
  {
    promise: 'an answer that breaks off is a failure, and loses nothing',
    applies: isAsked,
    async holds(subject) {
      const { source, at } = subject;
      const without = await disturbed(subject, at, away);
      const cut = await disturbed(subject, at, ({ good }) => ({
        ...good,
        body: good.body.slice(0, good.body.length / 2),
      }));
      expect(values(shownOf(source, cut.entry, timeOf(at)))).toEqual(
        values(shownOf(source, without.entry, timeOf(at))),
      );
      expect(cut.failure).toBeDefined();
      await expectRight(subject, cut.entry, at + 1);
    },
  },
  {
    promise: 'a kill between answer and save loses nothing and counts nothing twice',
    applies: isAsked,
    async holds(subject) {
      const { source, at } = subject;
      for (const index of [0, at]) {
        await turn(source, entryBefore(subject, index), { now: timeOf(index) });
        const again = await checked(subject, entryBefore(subject, index), { now: timeOf(index) + 1_000 });
        await expectRight(subject, again.entry, index + 1);
      }
    },
  },
  {
    promise: 'its refusal hides no series of the other reads',
    applies: ({ source }) => source.reads.length > 1,
    async holds(subject) {
      const { source, read, at } = subject;
      let entry = entryBefore(subject, at);
      const last = at + 3;
      for (let index = at; index <= last; index += 1)
        ({ entry } = await disturbed(
          subject,
          index,
          () => ({ status: 403, headers: { 'x-beaconchain-version': '1' }, body: '{"error":"no"}' }),
          entry,
        ));
      const [shown, whole] = [shownOf(source, entry, timeOf(last)), wholeAt(subject, last)];
      for (const sibling of SUBJECTS.filter((one) => one.source === source && one.read !== read)) {
        for (const series of sibling.own.keys())
          if (!subject.own.has(series))
            expect([series, shown.get(series)?.value]).toEqual([series, whole.get(series)?.value]);
      }
      // A read that is refused as a whole pauses for an hour.
      await expectRight(subject, entry, last + 1, TURNS - 1);
    },
  },
  {
    promise: 'a clock that jumps for one round loses nothing for good',
    applies: isAsked,
    async holds(subject) {
      const { source, read, at } = subject;
      for (const jumpMs of [40 * DAY, -40 * DAY]) {
        const worldNow = timeOf(at);
        const jump = { now: worldNow + jumpMs, worldNow, without: siblingsOf(source, read) };
        const { entry } = await turn(source, entryBefore(subject, at), jump);
        expectShowable(shownOf(source, entry, jump.now), jump.now);
        await expectRight(subject, entry, at + 1);
      }
    },
  },
  {
    promise: 'its values are withdrawn by their own time, to the millisecond',
    applies: ({ own }) => own.size > 0,
    async holds({ source, read, own }) {
      const delayMs = 2 * MINUTE;
      const without = siblingsOf(source, read);
      const [soon, late] = [NOW, NOW + delayMs];
      const first = await turn(source, emptyEntry(source), { now: soon, without });
      const second = await turn(source, emptyEntry(source), { now: late, worldNow: NOW, without });
      expectFirstChange((now) => familiesOf(source, first.entry, now), NOW);
      const again = shownOf(source, second.entry, late);
      const { dated } = ENDPOINTS[read.endpoints[0]];
      const ends = first.exchanges.flatMap(({ request, good }) => {
        const { path } = request;
        const { envelope, dated }: Definition<never, never> = ENDPOINTS[request.endpoint] as never;
        return dated?.at(envelope.parse(JSON.parse(good.body)), { chain: 'mainnet', path }) ?? [];
      });
      for (const [series, { value, until }] of own) {
        const then = again.get(series);
        if (until === Number.POSITIVE_INFINITY || then?.value !== value) continue;
        expect([series, dated || then.until === until ? then.until : then.until - delayMs]).toEqual([series, until]);
        if (dated && ends.length > 0) {
          const edge = Math.max(...ends) + dated.usualAgeMs + Math.max(3 * MS_PER_EPOCH, 2 * read.everyMs) + 1;
          expect(until, series).toBeLessThanOrEqual(edge);
          // The time of a head is that of its last block.
          expect(until, series).toBeGreaterThan(edge - MS_PER_EPOCH);
        }
      }
    },
  },
];

describe.each(SUBJECTS.map((one) => [`${sourceId(one.source)} ${one.read.name}`, one] as const))('%s', (_, subject) => {
  for (const row of ROWS.filter((one) => one.applies(subject))) it(row.promise, () => row.holds(subject));
});

it.each(ROWS.map((row) => [row.promise, row] as const))('the promise applies to a read: %s', (_, { applies }) => {
  expect(SUBJECTS.some(applies)).toBe(true);
});
