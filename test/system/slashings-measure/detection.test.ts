import { describe, expect, it } from 'vitest';
import { slotTime } from '../../../src/lib/chain.ts';
import { between } from '../../../src/lib/random.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import type { ObservedSlashing } from '../../../src/sources/slashings/options.ts';
import { defaultConfig } from '../../support/default-config.ts';
import { fakeApi } from '../../support/fake-api.ts';
import { slashingsOptions } from '../../support/slashings-options.ts';
import { attempts, DAY, HOUR, MINUTE, NOW, noSignal, timing } from '../../support/timing.ts';
import { ABOUT_A_MINUTE_MS, type Cache, CachingService } from './caching-service.ts';

const { intervalMs: BY_DEFAULT } = defaultConfig().slashings;
/** The service tells of a slot when it is over. */
const REPORTED_AFTER_MS = 12_000;
/** Together a day. */
const RUNS = 12;
const RUN_MS = 2 * HOUR;

interface Followed {
  /** Milliseconds from the start of a slot to the poll that counted its slashing. */
  readonly delays: readonly number[];
  /** What was asked for. */
  readonly paths: readonly string[];
}

interface Circumstances extends Cache {
  readonly intervalMs: number;
}

/** Follows a simulated chain from a random moment on. */
async function follow({ intervalMs, ...cache }: Circumstances, run: number): Promise<Followed> {
  const start = NOW + between(0, DAY, run, 1);
  const sandbox = new Sandbox({ start, seed: `detection ${run}`, slotsPerSlashing: 25 });
  const service = new CachingService(sandbox, cache, run);
  const delays: number[] = [];
  let now = start;
  const onSlashing = ({ slot }: ObservedSlashing): void => {
    const at = slotTime('mainnet', slot) * 1000;
    // What happened before it looked for the first time is no measure of how fast it looks.
    if (at > start) delays.push(now - at);
  };
  const source = slashingsSource(slashingsOptions({ intervalMs, onSlashing }));
  const api = fakeApi((request) => service.answer(request, now));
  let state = source.empty;
  while (now < start + RUN_MS) {
    const { value, failure } = await source.poll(api, state, timing({ now, intervalMs }), noSignal());
    expect(failure).toBeUndefined();
    state = value;
    now = source.due(state, attempts(now), timing({ now, intervalMs }));
  }
  return { delays, paths: service.paths };
}

const OURS = { neighbours: 'none', keptMs: ABOUT_A_MINUTE_MS } as const;
const SHARED = { neighbours: 'many', keptMs: ABOUT_A_MINUTE_MS } as const;
const LONG = { neighbours: 'none', keptMs: 90_000 } as const;
const NO_CACHE = { neighbours: 'none', keptMs: 0 } as const;

describe('system/slashings-measure/detection', () => {
  it.for<[string, Cache & { intervalMs?: number }, { median: number; worst: number }]>([
    // With a little more than a minute, the answer to the pass before is not kept any more.
    ['caches for us alone', OURS, { median: 46_000, worst: BY_DEFAULT + REPORTED_AFTER_MS + 1_000 }],
    ['caches for many', SHARED, { median: 70_000, worst: BY_DEFAULT + ABOUT_A_MINUTE_MS + REPORTED_AFTER_MS }],
    ['caches for longer than the interval', LONG, { median: 80_000, worst: 2 * BY_DEFAULT + REPORTED_AFTER_MS }],
    ['does not cache', NO_CACHE, { median: 46_000, worst: BY_DEFAULT + REPORTED_AFTER_MS }],
    // With exactly a minute, every other answer is that to the pass before.
    ['caches for us alone, each minute', { ...OURS, intervalMs: MINUTE }, { median: 72_000, worst: 132_000 }],
    ['caches for many, each minute', { ...SHARED, intervalMs: MINUTE }, { median: 72_000, worst: 132_000 }],
    [
      'caches for longer than a minute, each minute',
      { ...LONG, intervalMs: MINUTE },
      { median: 80_000, worst: 132_000 },
    ],
    ['does not cache, each minute', { ...NO_CACHE, intervalMs: MINUTE }, { median: 46_000, worst: 72_000 }],
  ])(
    'of every slashing is in time with a service that %s, for what is promised',
    async ([, { intervalMs = BY_DEFAULT, ...cache }, promised], { annotate }) => {
      const runs: Followed[] = [];
      for (let run = 0; run < RUNS; run += 1) runs.push(await follow({ ...cache, intervalMs }, run));
      const delays = runs.flatMap((run) => run.delays).toSorted((a, b) => a - b);
      const [median = 0, worst = 0] = [delays[delays.length >> 1], delays.at(-1)];
      const paths = runs.flatMap((run) => run.paths);
      const count = (pattern: RegExp): number => paths.filter((path) => pattern.test(path)).length;
      const requests = { head: count(/latest/), finalized: count(/finalized/), byNumber: count(/epoch\/\d/) };
      await annotate(`${delays.length} slashings, median ${median / 1000} s, worst ${worst / 1000} s`);
      await annotate(`requests a day, details of slashings apart: ${JSON.stringify(requests)}`);

      expect(delays.length).toBeGreaterThanOrEqual(200);
      expect(worst).toBeLessThanOrEqual(promised.worst);
      expect(median).toBeLessThanOrEqual(promised.median);
      expect(requests.head).toBeLessThanOrEqual(Math.ceil(RUN_MS / intervalMs) * RUNS);
      expect(requests.finalized).toBeLessThanOrEqual(225 + 2 * RUNS);
      // An epoch that passed is read twice where others have asked for it just before its end.
      expect(requests.byNumber).toBeLessThanOrEqual(cache.neighbours === 'many' ? 225 * 1.5 : 225 + 2 * RUNS);
    },
  );
});
