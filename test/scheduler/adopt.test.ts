import { describe, expect, it } from 'vitest';
import { type Entry, emptyEntry } from '../../src/scheduler/entry.ts';
import type { BudgetView } from '../../src/scheduler/paces.ts';
import { lastOf } from '../../src/scheduler/schedules.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { entryOf } from '../support/runs/known.ts';
import { budgetOf } from '../support/runs/round.ts';
import { schedule, sleeping } from '../support/runs/scheduler-harness.ts';
import { HOUR, MINUTE, NOW, SECOND } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';

const NOTHING: ReadonlyMap<string, Entry> = new Map();

/** Makes sources whose polls take 20 s and add a number, with a log of their polls. */
function world() {
  const clock = new VirtualClock(NOW);
  const events: string[] = [];
  const source = (adds: number, overrides: Parameters<typeof fakeSource>[0] = {}) =>
    fakeSource({
      run: (value, context) => {
        events.push(`${clock.monotonic() / SECOND} +${adds}`);
        return sleeping(
          clock,
          20 * SECOND,
          adds,
        )(value, context).catch((error: unknown) => {
          events.push(`${clock.monotonic() / SECOND} ended`);
          throw error;
        });
      },
      ...overrides,
    });
  return { clock, events, source };
}

describe('scheduler/scheduler: adopted sources', () => {
  it('let a poll in progress end with the old options, and are polled when they are due', async () => {
    const { clock, events, source } = world();
    const { scheduler, view } = schedule([source(1)], { clock });
    await clock.advance(10 * SECOND);
    const next = source(100, { everyMs: 2 * MINUTE });
    scheduler.adopt([next], NOTHING);
    expect(view(next).running).toBe(true);
    await clock.advance(10 * SECOND);
    expect(view(next).entry).toMatchObject({ value: 1 });
    expect(view(next).first.nextAttemptAt).toBe(NOW + 2 * MINUTE);
    await clock.advance(2 * MINUTE);
    expect(view(next).entry.value).toBe(101);
    expect(events).toEqual(['0 +1', '120 +100']);
  });

  it('doubt their refusals again, even during a poll or before a value is saved', async () => {
    const { clock } = world();
    const refusal = { reason: 'forbidden', attempts: 2, firstAt: NOW - HOUR, lastAt: NOW };
    const refused = () => fakeSource({ endpoints: ['machine_names'], run: sleeping(clock, 20 * SECOND) });
    const saves: unknown[] = [];
    let isFull = true;
    const save = async (_id: string, { value, refusals }: Entry): Promise<void> => {
      if (isFull) throw new Error('disk full');
      saves.push([value, refusals]);
    };
    const refusals = { machine_names: refusal };
    const entries = new Map([['machines', entryOf(refused(), { lastAttemptAt: NOW }, { value: 9, refusals })]]);
    const { scheduler } = schedule([refused()], { clock, entries, store: { save } });
    // The part stays refused until it works.
    const doubted = { machine_names: { ...refusal, attempts: 0, firstAt: NOW, isOld: true } };
    expect(scheduler.entries().get('machines')?.refusals).toEqual(doubted);
    await clock.advance(21 * SECOND);
    scheduler.adopt([refused()], NOTHING);
    isFull = false;
    await clock.advance(21 * SECOND);
    expect(saves).toEqual([[11, doubted]]);
  });

  it('can interrupt the polls of some sources, which then count as never made', async () => {
    const { clock, events, source } = world();
    const other = source(10, { name: 'slashings' });
    const { scheduler, views, view, lines } = schedule([source(1), other], { clock });
    await clock.advance(5 * SECOND);
    const interrupted = scheduler.interrupt(({ name }) => name === 'machines');
    await clock.advance(SECOND);
    await interrupted;
    // Until the sources are adopted, no poll begins, and all sources stay visible.
    await clock.advance(SECOND);
    expect(views()).toHaveLength(2);
    const next = source(100);
    scheduler.adopt([next, other], NOTHING);
    expect(lastOf(view(next)).lastAttemptAt).toBeUndefined();
    await clock.advance(20 * SECOND);
    expect(view(next).entry).toMatchObject({ value: 100 });
    expect(view(other).entry).toMatchObject({ value: 10 });
    expect(events).toEqual(['0 +1', '0 +10', '5 ended', '7 +100']);
    expect(lines.filter(({ msg }) => msg === 'poll failed')).toEqual([]);
  });

  it('let a round in progress continue when another chain is removed', async () => {
    const { clock, source } = world();
    const slow = { name: 'slow', run: sleeping(clock, MINUTE / 2) };
    const kept = fakeSource({ chain: 'hoodi', reads: [slow, { name: 'next' }] });
    const removed = source(1, { chain: 'mainnet', everyMs: HOUR });
    let chains = ['mainnet', 'hoodi'];
    const budgetView = (): BudgetView => ({
      ...budgetOf(),
      bucketOf({ chain = '' }) {
        if (!chains.includes(chain)) throw new TypeError(`no host of ${chain}`);
        return chain;
      },
    });
    const { scheduler, view } = schedule([removed, kept], { clock, budgetView });
    await clock.advance(25 * SECOND);
    chains = ['hoodi'];
    scheduler.adopt([kept], NOTHING);
    await clock.advance(MINUTE / 2);
    expect(view(kept).entry.value).toBe(2);
  });

  it('disappear when they are removed, and return with the given entry', async () => {
    const { clock, source } = world();
    const other = source(10, { name: 'slashings' });
    const { scheduler, views, view } = schedule([source(1), other], { clock });
    await scheduler.interrupt(({ name }) => name === 'machines');
    scheduler.adopt([other], NOTHING);
    expect(views().map(({ source: { name } }) => name)).toEqual(['slashings']);
    expect(scheduler.entries().has('machines')).toBe(false);
    const back = source(1);
    scheduler.adopt([back, other], new Map([['machines', { ...emptyEntry(back), value: 7 }]]));
    await clock.advance(20 * SECOND);
    expect(view(back).entry).toMatchObject({ value: 8 });
  });
});
