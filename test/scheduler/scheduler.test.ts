import { describe, expect, it } from 'vitest';
import { type FailureReason, RequestFailed } from '../../src/api/errors.ts';
import { type Entry, emptyEntry } from '../../src/scheduler/entry.ts';
import type { Ended } from '../../src/scheduler/round.ts';
import { lastOf } from '../../src/scheduler/schedules.ts';
import type { ReadContext, SourceEvent } from '../../src/sources/read.ts';
import type { Source } from '../../src/sources/source.ts';
import { stateOf } from '../../src/status-page/status-sources.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { entryOf } from '../support/runs/known.ts';
import { type Harness, NO_QUOTA, schedule, sleeping } from '../support/runs/scheduler-harness.ts';
import { DAY, HOUR, MINUTE, NOW, SECOND } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';

/** A source whose every poll has an event. */
const eventful = (): Source =>
  fakeSource({
    run: (value, { events }) => {
      events.push({ type: 'epochs_skipped', epochs: value + 1 });
      return { value: value + 1 };
    },
  });

/** A disk that is full at first. `onSave` gets each saved entry. */
function fullDisk(onSave: (entry: Entry) => void = () => undefined) {
  const disk = { isFull: true, store: { save } };
  return disk;

  async function save(_id: string, entry: Entry): Promise<void> {
    if (disk.isFull) throw new Error('ENOSPC');
    onSave(entry);
  }
}

/** Sources that take time and log when they begin and end. */
function recorder() {
  const clock = new VirtualClock(NOW);
  const events: string[] = [];
  const starts: number[] = [];
  const source = (label: string, takesMs: number, overrides: Parameters<typeof fakeSource>[0] = {}): Source =>
    fakeSource({
      run: async (value, { signal }) => {
        events.push(`${(clock.monotonic() / SECOND).toFixed(0)} START ${label}`);
        await clock.sleep(takesMs, signal);
        events.push(`${(clock.monotonic() / SECOND).toFixed(0)} END ${label}`);
        return { value: value + 1 };
      },
      ...overrides,
    });
  /** Always fails, and logs the minutes of its polls. */
  const failing = (reason: FailureReason, overrides: Parameters<typeof fakeSource>[0] = {}): Source =>
    fakeSource({
      run: (value) => {
        starts.push(clock.monotonic() / MINUTE);
        return { value, failure: new RequestFailed('machine_metrics', reason, 'made up') };
      },
      ...overrides,
    });
  /** Always succeeds, and logs the times of its polls, in ms. */
  const counting = (): Source =>
    fakeSource({
      run: (value) => {
        starts.push(clock.monotonic());
        return { value: value + 1 };
      },
    });
  return { clock, events, starts, source, failing, counting };
}

describe('polls', () => {
  it('of one source never overlap, and never delay another source', async () => {
    const { clock, events, source } = recorder();
    const slow = source('slow', 90 * SECOND);
    schedule([slow, source('quick', SECOND, { name: 'slashings' })], { clock });
    await clock.advance(3 * MINUTE);
    expect(events.filter((event) => event.includes('slow'))).toEqual([
      ...['0 START slow', '90 END slow', '90 START slow', '180 END slow', '180 START slow'],
    ]);
    const starts = events.filter((event) => event.includes('START quick'));
    expect(starts).toEqual([0, 60, 120, 180].map((at) => `${at} START quick`));
  });

  it('drop the ticks that a long poll missed, follow at once, and show the interval that is met', async () => {
    const { clock, events, source } = recorder();
    const long = source('long', 150 * SECOND);
    const { view } = schedule([long], { clock });
    await clock.advance(7 * MINUTE);
    const starts = events.filter((event) => event.includes('START'));
    expect(starts).toEqual(['0 START long', '150 START long', '300 START long']);
    expect(view(long).first.pace.intervalMs).toBe(150 * SECOND);
  });

  it('run one at a time until a limit is known, then at the same time', async () => {
    const { clock, events, source } = recorder();
    let limitsKnown = false;
    const names = ['machines', 'slashings', 'sync_committee'] as const;
    const sources = names.map((name) => source(name, 10 * SECOND, { name, everyMs: HOUR }));
    schedule(sources, { clock, limitsKnown: () => limitsKnown });
    await clock.advance(9 * SECOND);
    limitsKnown = true;
    await clock.advance(30 * SECOND);
    expect(events).toEqual([
      ...['0 START machines', '10 END machines', '10 START slashings', '10 START sync_committee'],
      ...['20 END slashings', '20 END sync_committee'],
    ]);
  });

  it('do not start while another poll takes the only allowed request', async () => {
    const { clock, events, source } = recorder();
    const sources = (['machines', 'slashings'] as const).map((name) => source(name, SECOND, { name }));
    schedule(sources, { clock, keyAt: () => (events.length === 0 ? 0 : Number.POSITIVE_INFINITY) });
    await clock.advance(MINUTE);
    expect(events).toEqual(['0 START machines', '1 END machines']);
  });

  it('are overdue five minutes after the loop could not start them', async () => {
    const { clock, source } = recorder();
    const names = ['machines', 'slashings'] as const;
    const sources = names.map((name) => source(name, 10 * MINUTE, { name, everyMs: HOUR }));
    const { scheduler } = schedule(sources, { clock, limitsKnown: () => false });
    await clock.advance(0);
    await clock.advance(5 * MINUTE);
    expect(scheduler.unhealthy()).toBeUndefined();
    await clock.advance(1);
    expect(scheduler.unhealthy()).toBe('slashings is overdue');
    await clock.advance(5 * MINUTE);
    expect(scheduler.unhealthy()).toBeUndefined();
  });

  it('start even if no answer reports a limit', async () => {
    const { clock, starts, failing } = recorder();
    const names = ['machines', 'slashings', 'sync_committee'] as const;
    schedule(
      names.map((name) => failing('network', { name, everyMs: HOUR })),
      { clock, limitsKnown: () => false },
    );
    await clock.advance(SECOND);
    expect(starts).toEqual([0, 0, 0]);
  });

  it('that throw anything keep the value and stop no other source', async () => {
    const throwing = fakeSource({
      run: () => {
        throw 'a text';
      },
    });
    const other = fakeSource({ name: 'slashings' });
    const failures: (string | undefined)[] = [];
    const onRun = (_: Source, _read: unknown, { failure }: Ended): void => void failures.push(failure?.message);
    const { clock, view } = schedule([throwing, other], { onRun });
    await clock.advance(MINUTE);
    expect(view(throwing).entry).toMatchObject({ value: 0 });
    expect(lastOf(view(throwing)).lastError).toMatchObject({ reason: 'Error', message: 'a text' });
    expect(view(other).entry).toMatchObject({ value: 2 });
    expect(failures).toEqual(['a text', undefined, 'a text', undefined]);
  });
});

describe('a closed budget', () => {
  it('holds polls back until it opens, and shows that time', async () => {
    const { clock, starts, failing } = recorder();
    const source = failing('invalid_body');
    const { view } = schedule([source], { clock, keyAt: () => NOW + 3 * MINUTE });
    await clock.advance(3 * MINUTE - 1);
    expect(starts).toEqual([]);
    expect(view(source).first.nextAttemptAt).toBe(NOW + 3 * MINUTE);
    await clock.advance(1);
    expect(starts).toEqual([3]);
  });

  it('that opens early is noticed within 15 s, or at once when sources are adopted', async () => {
    let at = Number.POSITIVE_INFINITY;
    const source = fakeSource({ everyMs: HOUR });
    const { clock, view, scheduler } = schedule([source], { keyAt: () => at });
    await clock.advance(HOUR);
    at = 0;
    await clock.advance(15 * SECOND);
    expect(lastOf(view(source)).lastAttemptAt).toBeDefined();

    at = Number.POSITIVE_INFINITY;
    await clock.advance(2 * HOUR);
    at = 0;
    scheduler.adopt([source], new Map());
    await clock.advance(0);
    expect(view(source).entry.value).toBe(2);
  });
});

it('updates every source when its wait for the quota begins and when it ends', async () => {
  const names = ['machines', 'slashings'] as const;
  let closedUntil = NOW + DAY;
  const sources = names.map((name) => fakeSource({ name }));
  const { clock, changes, view } = schedule(sources, {
    quotaOf: () => ({ ...NO_QUOTA, closedUntil }),
  });
  await clock.advance(HOUR);
  expect(changes).toEqual(names);
  for (const source of sources) expect(view(source).first.wait).toMatchObject({ until: NOW + DAY });
  closedUntil = 0;
  await clock.advance(15 * SECOND);
  expect(changes.slice(2, 4)).toEqual(names);
  for (const source of sources) expect(view(source).entry.value).toBe(1);
});

it('reports the schedules while a read runs beside one that the budget leaves out', async () => {
  const clock = new VirtualClock(NOW);
  const basic = { name: 'basic', run: sleeping(clock, MINUTE) };
  const source = fakeSource({ reads: [{ name: 'late', slowestMs: MINUTE }, basic] });
  const entry = { ...emptyEntry(source), reads: { basic: { failuresInARow: 0, durationMs: 0, costs: [1, 1] } } };
  const reported: number[] = [];
  schedule([source], {
    clock,
    allowedPerDay: () => 24,
    onSchedules: () => reported.push(clock.monotonic()),
    entries: new Map([['machines', entry]]),
  });
  await clock.advance(SECOND);
  expect(reported).toEqual([0]);
});

it('does not poll a source that the budget leaves out, and later tells its read that it was off', async () => {
  const clock = new VirtualClock(NOW);
  const seen: boolean[] = [];
  const run = (value: number, { wasLeftOut }: ReadContext) => ({ value: seen.push(wasLeftOut) && value });
  const source = fakeSource({ spare: 0.5, run });
  let isMonthly = false;
  const { view } = schedule([source], { clock, quotaOf: () => ({ ...NO_QUOTA, isMonthly }) });
  await clock.advance(MINUTE + SECOND);
  isMonthly = true;
  await clock.advance(DAY);
  expect(seen).toEqual([false, false]);
  expect(view(source)).toMatchObject({ leftOut: ['only'], first: { nextAttemptAt: Infinity, wait: undefined } });
  const { tone, text } = stateOf(view(source), clock.now());
  expect([tone, text]).toEqual(['neutral', 'off: the limits are too low']);
  isMonthly = false;
  await clock.advance(2 * MINUTE);
  expect(seen).toEqual([false, false, true, false]);
});

it('shows restored entries at once, and polls them when they are due', async () => {
  const restored = entryOf(fakeSource(), { lastAttemptAt: NOW - 20 * SECOND }, { value: 41 });
  const source = fakeSource();
  const { clock, view } = schedule([source], { entries: new Map([['machines', restored]]) });
  await clock.advance(40 * SECOND - 1);
  expect(view(source).entry).toEqual(restored);
  await clock.advance(1);
  expect(view(source).entry).toMatchObject({ value: 42 });
});

describe('the wall clock', () => {
  it.each([
    ['back an hour', -HOUR],
    ['forward an hour', HOUR],
  ])('that is set %s neither stops nor hurries polling', async (_name, stepMs) => {
    const { clock, starts, counting } = recorder();
    const source = counting();
    const { view } = schedule([source], { clock });
    await clock.advance(10 * MINUTE + 30 * SECOND);
    const before = starts.length;
    clock.step(stepMs);
    await clock.advance(10 * MINUTE);
    const after = starts.slice(before - 1);
    const gaps = after.slice(1).map((start, i) => start - (after[i] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(MINUTE + 15 * SECOND);
    expect(after.length - 1).toBeLessThanOrEqual(11);
    expect(Math.abs(view(source).first.nextAttemptAt - clock.now())).toBeLessThanOrEqual(MINUTE);
  });

  it.each([-11 * MINUTE, 11 * MINUTE])(
    'that is set by %i ms in a round makes its reads due again, and keeps their values',
    async (ms) => {
      const clock = new VirtualClock(NOW);
      const sets = (value: number) => {
        if (value === 0) clock.step(ms);
        return { value: value + 1 };
      };
      const source = fakeSource({ reads: [{ name: 'first', run: sets }, { name: 'second' }] });
      const { saved } = schedule([source], { clock });
      await clock.advance(SECOND);
      const [[, before], [, after]] = saved as [(typeof saved)[0], (typeof saved)[0]];
      expect(before.reads).toMatchObject({ first: { isDueNow: true }, second: { isDueNow: true } });
      expect(after).toMatchObject({ value: 4, reads: { first: { lastSuccessAt: NOW + ms } } });
    },
  );

  it('does not stop the heartbeat, which ends only with the loop', async () => {
    const { clock, scheduler, stop } = schedule([fakeSource({ everyMs: DAY })]);
    for (let i = 0; i < 20; i += 1) {
      await clock.advance(MINUTE);
      clock.step(i % 2 === 0 ? -HOUR : HOUR);
      expect(scheduler.unhealthy()).toBeUndefined();
    }
    void stop();
    await clock.advance(MINUTE + 1);
    expect(scheduler.unhealthy()).toBe('the scheduler has stopped');
  });
});

describe('a value', () => {
  it('is shown only after it is saved', async () => {
    const clock = new VirtualClock(NOW);
    const source = fakeSource();
    const harness: Harness = schedule([source], {
      clock,
      store: {
        save: async () => {
          expect(lastOf(harness.view(source)).lastAttemptAt).toBeUndefined();
          await clock.sleep(2 * SECOND);
        },
      },
    });
    await clock.advance(2 * SECOND - 1);
    expect(lastOf(harness.view(source)).lastAttemptAt).toBeUndefined();
    expect(harness.changes).toEqual([]);
    await clock.advance(1);
    expect(lastOf(harness.view(source)).lastAttemptAt).toBeDefined();
    expect(harness.changes).toEqual(['machines']);
  });

  it('that cannot be saved is not shown, and is saved later, while polling continues', async () => {
    const saves: Entry[] = [];
    const disk = fullDisk((entry) => saves.push(entry));
    const source = fakeSource();
    const { clock, view, changes, lines } = schedule([source], { store: disk.store });
    await clock.advance(2 * MINUTE + SECOND);
    expect(view(source).entry).toMatchObject({ value: 0 });
    expect(lines.filter(({ msg }) => msg === 'state not written').length).toBeGreaterThanOrEqual(3);
    expect(changes).toEqual([]);
    // The next attempt follows the attempts that were made, not the saved ones.
    expect(view(source).first.nextAttemptAt).toBe(NOW + 3 * MINUTE);

    disk.isFull = false;
    await clock.advance(15 * SECOND);
    expect(saves.at(-1)).toMatchObject({ value: 3 });
    expect(view(source).entry).toMatchObject({ value: 3 });
    expect(changes).toEqual(['machines']);
  });

  it('is saved before its events are reported, each once and in order, even after failed saves', async () => {
    const happened: unknown[] = [];
    const disk = fullDisk(({ value }) => happened.push(`saved ${value}`));
    const onEvent = (_: unknown, event: SourceEvent) => happened.push(event['epochs']);
    const { clock } = schedule([eventful()], { store: disk.store, onEvent });
    await clock.advance(MINUTE + SECOND);
    expect(happened).toEqual([]);
    disk.isFull = false;
    await clock.advance(MINUTE);
    expect(happened).toEqual(['saved 2', 1, 2, 'saved 3', 3]);
  });

  it('that was never saved leaves no events when the state is read again', async () => {
    const found: unknown[] = [];
    const source = eventful();
    const disk = fullDisk();
    const { clock, scheduler } = schedule([source], { store: disk.store, onEvent: (_, event) => found.push(event) });
    await clock.advance(SECOND);
    disk.isFull = false;
    scheduler.show(source);
    await clock.advance(MINUTE);
    expect(found).toEqual([{ type: 'epochs_skipped', epochs: 1 }]);
  });

  it('is never replaced by an older one, however long a save takes', async () => {
    const clock = new VirtualClock(NOW);
    let saves = 0;
    let saving = 0;
    let mostAtOnce = 0;
    const source = fakeSource();
    const { view } = schedule([source], {
      clock,
      store: {
        save: async () => {
          saves += 1;
          if (saves === 1) throw new Error('ENOSPC');
          saving += 1;
          mostAtOnce = Math.max(mostAtOnce, saving);
          // The second try of the first value takes longer than the next poll.
          await clock.sleep(saves === 2 ? 70 * SECOND : SECOND);
          saving -= 1;
        },
      },
    });
    let shown = 0;
    for (let i = 0; i < 40; i += 1) {
      await clock.advance(5 * SECOND);
      const value = Number(view(source).entry.value);
      expect(value).toBeGreaterThanOrEqual(shown);
      shown = value;
    }
    expect(shown).toBeGreaterThanOrEqual(3);
    expect(mostAtOnce).toBe(1);
  });
});

describe('a stop', () => {
  it('aborts polls in progress, which then do not count', async () => {
    const { clock, source, events } = recorder();
    const slow = source('slow', HOUR);
    const { stop, view, saved, lines } = schedule([slow], { clock });
    await clock.advance(SECOND);
    await stop();
    expect(events).toEqual(['0 START slow']);
    expect(view(slow).entry).toEqual(emptyEntry(slow));
    expect(saved).toEqual([]);
    expect(lines).toEqual([]);
  });

  it('keeps the results of the reads that have ended in a round', async () => {
    const clock = new VirtualClock(NOW);
    const long = { name: 'long', run: sleeping(clock, HOUR, 10) };
    const source = fakeSource({ reads: [{ name: 'first' }, long, { name: 'last' }] });
    const { stop, saved } = schedule([source], { clock });
    await clock.advance(SECOND);
    await stop();
    expect(saved).toMatchObject([['machines', { value: 1 }]]);
    expect(Object.keys(saved[0]?.[1].reads ?? {})).toEqual(['first']);
  });

  it('waits for a poll that cannot be aborted, and for its save', async () => {
    const clock = new VirtualClock(NOW);
    const source = fakeSource({ run: async (value) => clock.sleep(2 * SECOND).then(() => ({ value: value + 1 })) });
    const { stop, saved } = schedule([source], { clock });
    await clock.advance(SECOND);
    let ended = false;
    void stop().then(() => (ended = true));
    await clock.advance(SECOND - 1);
    expect(ended).toBe(false);
    await clock.advance(1);
    expect(ended).toBe(true);
    expect(saved).toEqual([['machines', expect.objectContaining({ value: 1 })]]);
  });
});
