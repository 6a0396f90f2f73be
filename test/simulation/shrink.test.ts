import { describe, expect, it } from 'vitest';
import { DAY, HOUR } from '../support/timing.ts';
import { calmWorld, simplerSettings } from './calm.ts';
import { drawExporter, USUAL } from './exporter-setting.ts';
import { Random } from './random.ts';
import { drawNetwork } from './service/network.ts';
import { calmSetting, drawService } from './service/setting.ts';
import { type ShrinkOptions, shrink } from './shrink.ts';
import type { Failure } from './shrink-search.ts';
import type { Setting, Story, StoryEvent } from './story.ts';

function storyOf(kinds: readonly string[], setting: Setting = calmWorld()): Story {
  const random = new Random(7, 'story');
  const events = kinds.map((kind, i) => ({ at: i * HOUR + random.between(1, HOUR - 1), kind, what: {} }));
  return { seed: 7, start: Date.UTC(2026, 0, 1), lengthMs: 10 * DAY, setting, events };
}

/** Event number i has the kind `e<i>`. */
function numbered(count: number): Story {
  return storyOf(Array.from({ length: count }, (_, i) => `e${i}`));
}

const FAILURE: Failure = { check: 'toy', message: 'broken', at: 9 * DAY };

function kindsOf({ events }: Pick<Story, 'events'>): string[] {
  return events.map(({ kind }) => kind);
}

/** Fails if the story has all of these events, in this order. */
function needing(...kinds: readonly string[]) {
  return async ({ events }: Story): Promise<Failure | undefined> => {
    const there = kindsOf({ events }).filter((kind) => kinds.includes(kind));
    return kinds.join() === there.join() ? { ...FAILURE, at: events.findLast(isOf(kinds))?.at ?? 0 } : undefined;
  };
}

function isOf(kinds: readonly string[]) {
  return ({ kind }: StoryEvent): boolean => kinds.includes(kind);
}

const OPTIONS: ShrinkOptions = { simplerSettings: () => [], maxRuns: 5_000 };

describe('shrinking', () => {
  it.each([[['e0']], [['e39']], [['e3', 'e37']], [['e19', 'e20']], [['e0', 'e13', 'e26', 'e39']]])(
    'finds the events that a failure needs, of 40: %j',
    async (needed) => {
      const { story, failure } = await shrink(numbered(40), needing(...needed), OPTIONS);
      expect(kindsOf(story)).toEqual(needed);
      expect(failure.check).toBe('toy');
    },
  );

  it('takes at most 200 runs for two of 40 events', async () => {
    let runs = 0;
    const fails = needing('e3', 'e37');
    const count = async (story: Story): Promise<Failure | undefined> => {
      runs += 1;
      return fails(story);
    };
    const shrunk = await shrink(numbered(40), count, OPTIONS);
    expect(shrunk.runs).toBe(runs);
    expect(runs).toBeLessThan(200);
  });

  it('finds that no event is needed', async () => {
    const { story } = await shrink(numbered(40), async () => FAILURE, OPTIONS);
    expect(story.events).toEqual([]);
    expect(story.lengthMs).toBe(0);
  });

  it('keeps a failure that fewer events can hide', async () => {
    // e8 hides the failure unless e30 is there too.
    const fails = async ({ events }: Story): Promise<Failure | undefined> => {
      const has = (kind: string): boolean => events.some((event) => event.kind === kind);
      return has('e20') && (!has('e8') || has('e30')) ? FAILURE : undefined;
    };
    const { story } = await shrink(numbered(40), fails, OPTIONS);
    expect(kindsOf(story)).toEqual(['e20']);
  });

  it('takes out two events that can only go together', async () => {
    const fails = async ({ events }: Story): Promise<Failure | undefined> => {
      const has = (kind: string): boolean => events.some((event) => event.kind === kind);
      return has('e5') && has('e2') === has('e9') ? FAILURE : undefined;
    };
    const { story } = await shrink(numbered(12), fails, OPTIONS);
    expect(kindsOf(story)).toEqual(['e5']);
  });

  it('ends with a story of which no event can go, however the failure depends on them', async () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      // Any subset fails or not, as the seed says, apart from the whole.
      const whole = numbered(10);
      const fails = async ({ events }: Story): Promise<Failure | undefined> =>
        events.length === 10 || new Random(seed, kindsOf({ events }).join()).happens(0.3) ? FAILURE : undefined;
      const { story } = await shrink(whole, fails, OPTIONS);
      expect(await fails(story)).toEqual(FAILURE);
      for (const gone of story.events) {
        expect(await fails({ ...story, events: story.events.filter((event) => event !== gone) })).toBeUndefined();
      }
    }
  });

  it('does not take another failure for the same', async () => {
    const fails = async ({ events }: Story): Promise<Failure> => ({
      ...FAILURE,
      check: events.some(({ kind }) => kind === 'e4') ? 'toy' : 'another',
    });
    const { story, failure } = await shrink(numbered(40), fails, OPTIONS);
    expect(kindsOf(story)).toEqual(['e4']);
    expect(failure.check).toBe('toy');
  });

  it('cuts what comes after the failure', async () => {
    const { story } = await shrink(numbered(40), needing('e30'), { ...OPTIONS, maxRuns: 2 });
    expect(kindsOf(story).at(-1)).toBe('e30');
    expect(story.lengthMs).toBeLessThan(31 * HOUR);
  });

  it('keeps the length that a failure needs', async () => {
    const fails = async ({ lengthMs }: Story): Promise<Failure | undefined> =>
      lengthMs >= 3 * DAY ? { ...FAILURE, at: lengthMs } : undefined;
    const { story } = await shrink(numbered(5), fails, OPTIONS);
    expect(story.lengthMs).toBeGreaterThanOrEqual(3 * DAY);
    expect(story.lengthMs).toBeLessThan(3.2 * DAY);
  });

  it('moves events earlier, to times that can be read', async () => {
    const fails = async (story: Story): Promise<Failure | undefined> => {
      const [first, second] = story.events;
      const gap = (second?.at ?? 0) - (first?.at ?? 0);
      return first?.kind === 'e10' && second?.kind === 'e11' && gap >= 90_000
        ? { ...FAILURE, at: second.at }
        : undefined;
    };
    const { story } = await shrink(storyOf(Array.from({ length: 12 }, (_, i) => `e${i}`).slice(10)), fails, OPTIONS);
    const [first, second] = story.events;
    expect(first?.at).toBe(0);
    expect(second?.at).toBeGreaterThanOrEqual(90_000);
    expect(second?.at).toBeLessThan(240_000);
    expect((second?.at ?? 1) % 10_000).toBe(0);
  });

  it('keeps the order of the events', async () => {
    const { story } = await shrink(numbered(40), needing('e3', 'e5', 'e9'), OPTIONS);
    expect(story.events.map(({ at }) => at)).toEqual([0, 0, 0]);
    expect(kindsOf(story)).toEqual(['e3', 'e5', 'e9']);
  });

  it('simplifies the setting as far as the failure allows', async () => {
    const machines = Array.from({ length: 12 }, (_, i) => `m${i}`);
    const service = calmSetting({ seed: 5, machines, plan: { perSecond: 1, perMonth: 1_000 }, liveliness: 1 });
    const whole = storyOf([], calmWorld({ service, exporter: { ...USUAL, replicas: 3, refreshMs: 15_000 } }));
    const fails = async ({ setting }: Story): Promise<Failure | undefined> =>
      setting.exporter.replicas >= 2 && setting.service.machines.includes('m8') ? FAILURE : undefined;
    const { story } = await shrink(whole, fails, { ...OPTIONS, simplerSettings });
    expect(story.setting).toEqual(
      calmWorld({
        service: calmSetting({ seed: 5, machines: ['m8'] }),
        exporter: { ...USUAL, replicas: 2, refreshMs: 15_000 },
      }),
    );
  });

  it('ends with a drawn setting too', async () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const random = new Random(seed, 'setting');
      const setting: Setting = {
        service: drawService(random.fork('service')),
        network: drawNetwork(random.fork('network')),
        exporter: drawExporter(random.fork('exporter')),
      };
      const { story } = await shrink(storyOf([], setting), async () => FAILURE, { ...OPTIONS, simplerSettings });
      const { seed: kept } = setting.service;
      expect(story.setting).toEqual(calmWorld({ service: calmSetting({ seed: kept, machines: [] }) }));
    }
  });

  it('simplifies the parameters of events', async () => {
    const whole = { ...storyOf(['slow']), events: [{ at: 5, kind: 'slow', what: { ms: 900, times: 8 } }] };
    const fails = async ({ events: [slow] }: Story): Promise<Failure | undefined> =>
      Number(slow?.what['ms']) > 100 ? { ...FAILURE, at: 6 } : undefined;
    const simplerEvents = (event: StoryEvent): StoryEvent[] => [
      { ...event, what: { ...event.what, times: 1 } },
      { ...event, what: { ...event.what, ms: Math.floor(Number(event.what['ms']) / 2) } },
    ];
    const { story } = await shrink(whole, fails, { ...OPTIONS, simplerEvents });
    expect(story.events).toEqual([{ at: 0, kind: 'slow', what: { ms: 112, times: 1 } }]);
  });

  it('gives the same result each time', async () => {
    const once = await shrink(numbered(40), needing('e7', 'e21'), OPTIONS);
    expect(await shrink(numbered(40), needing('e7', 'e21'), OPTIONS)).toEqual(once);
  });

  it('ends when the budget is spent, with the best story so far', async () => {
    let runs = 0;
    const fails = async (story: Story): Promise<Failure | undefined> => {
      runs += 1;
      return needing('e3')(story);
    };
    const shrunk = await shrink(numbered(40), fails, { ...OPTIONS, maxRuns: 6 });
    expect(runs).toBe(6);
    expect(shrunk.story.events.length).toBeLessThan(40);
    const unshrunk = await shrink(numbered(40), needing('e3'), { ...OPTIONS, isSpent: () => true });
    expect(unshrunk.story).toEqual(numbered(40));
  });

  it('refuses a story that does not fail', async () => {
    await expect(shrink(numbered(3), async () => undefined, OPTIONS)).rejects.toThrow('seed 7 does not fail');
  });
});
