import { describe, expect, it } from 'vitest';
import { slotTime } from '../../../src/lib/chain.ts';
import { between } from '../../../src/lib/random.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import type { ObservedSlashing } from '../../../src/sources/slashings/count.ts';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import { fakeApi } from '../../support/fake-api.ts';
import { slashingsOptions } from '../../support/slashings-options.ts';
import { attempts, DAY, HOUR, MINUTE, NOW, noSignal, timing } from '../../support/timing.ts';
import { CachingService, type Neighbours } from './caching-service.ts';

const CACHED_MS = MINUTE;
/** The service tells of a slot when it is over. */
const REPORTED_AFTER_MS = 12_000;
/** Together a day. */
const RUNS = 6;
const RUN_MS = 4 * HOUR;

interface Followed {
  /** Milliseconds from the start of a slot to the poll that counted its slashing. */
  readonly delays: readonly number[];
  /** What was asked for. */
  readonly paths: readonly string[];
}

interface Circumstances {
  readonly neighbours: Neighbours;
  readonly intervalMs: number;
}

/** Follows a simulated chain from a random moment on. */
async function follow({ neighbours, intervalMs }: Circumstances, run: number): Promise<Followed> {
  const start = NOW + between(0, DAY, run, 1);
  const sandbox = new Sandbox({ start, seed: `detection ${run}`, slotsPerSlashing: 25 });
  const service = new CachingService(sandbox, neighbours, run);
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

describe('system/slashings-measure/detection', () => {
  it.for<[string, Circumstances, number]>([
    ['caches for us alone', { neighbours: 'none', intervalMs: MINUTE }, MINUTE + CACHED_MS + REPORTED_AFTER_MS],
    ['caches for many', { neighbours: 'many', intervalMs: MINUTE }, MINUTE + CACHED_MS + REPORTED_AFTER_MS],
    // Asked just after its cache has run out, it has nothing old to give.
    ['keeps answers a little less long than the interval', { neighbours: 'none', intervalMs: 65_000 }, 80_000],
  ])(
    'of every slashing is in time with a service that %s, for what is promised',
    async ([, how, latest], { annotate }) => {
      const runs: Followed[] = [];
      for (let run = 0; run < RUNS; run += 1) runs.push(await follow(how, run));
      const delays = runs.flatMap((run) => run.delays).toSorted((a, b) => a - b);
      const [median = 0, worst = 0] = [delays[delays.length >> 1], delays.at(-1)];
      const paths = runs.flatMap((run) => run.paths);
      const count = (pattern: RegExp): number => paths.filter((path) => pattern.test(path)).length;
      const requests = { head: count(/latest/), finalized: count(/finalized/), byNumber: count(/epoch\/\d/) };
      await annotate(`${delays.length} slashings, median ${median / 1000} s, worst ${worst / 1000} s`);
      await annotate(`requests a day, details of slashings apart: ${JSON.stringify(requests)}`);

      expect(delays.length).toBeGreaterThanOrEqual(200);
      expect(worst).toBeLessThanOrEqual(latest);
      expect(median).toBeLessThanOrEqual(MINUTE + REPORTED_AFTER_MS);
      expect(requests.head).toBeLessThanOrEqual(1_440);
      expect(requests.finalized).toBeLessThanOrEqual(225 + 2 * RUNS);
      // An epoch that passed is read twice where others have asked for it just before its end.
      expect(requests.byNumber).toBeLessThanOrEqual(how.neighbours === 'many' ? 225 * 1.5 : 225 + 2 * RUNS);
    },
  );
});
