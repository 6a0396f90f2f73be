import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { epochAt } from '../../../src/lib/chain.ts';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import type { Slashings } from '../../../src/sources/slashings/schema.ts';
import type { Coverage } from '../../../src/sources/source.ts';
import { countersIn, truthOf } from '../../support/chain-truth.ts';
import { fakeApi } from '../../support/fake-api.ts';
import { cases, PATIENT } from '../../support/fuzz.ts';
import { LivelyChain } from '../../support/lively-chain.ts';
import { slashingsOptions } from '../../support/slashings-options.ts';
import { MINUTE, NOW, noSignal, timing } from '../../support/timing.ts';
import { type Beyond, type Odd, OddChain } from './odd-chain.ts';

const SLOT_MS = 12_000;
const POLLS = 80;
/** An odd poll makes so many requests more: its own, and those of the looks that clear it up. */
const MAX_PER_ODD_POLL = 6;

/** Half of the proposers of the chain. */
const WATCHED = { first: 0, last: 49 };
const SOURCE = slashingsSource(slashingsOptions({ watch: [WATCHED] }));

interface World {
  readonly seed: number;
  readonly beyond: Beyond;
  readonly coverage: Coverage;
  /** By number of the poll. */
  readonly odd: ReadonlyMap<number, Odd>;
}

interface Outcome {
  readonly state: Slashings;
  readonly truth: ReturnType<typeof truthOf>;
  readonly requests: number;
  /** Polls without an odd answer that failed. */
  readonly failed: readonly number[];
}

async function follow({ seed, beyond, coverage, odd }: World): Promise<Outcome> {
  const intervalMs = coverage === 'full' ? MINUTE : 384_000;
  // The chain begins with three epochs, and does not get ahead of our clock.
  const chain = new LivelyChain(epochAt('mainnet', NOW) - 3, seed);
  const service = new OddChain(chain, beyond);
  const first = chain.finalized;
  const failed: number[] = [];
  let state = SOURCE.empty;
  let now = NOW;
  let requests = 0;

  async function poll(oddity: Odd | undefined): Promise<boolean> {
    now += intervalMs;
    const api = fakeApi((request) => service.answer(request, oddity));
    const { value, failure } = await SOURCE.poll(api, state, timing({ now, intervalMs, coverage }), noSignal());
    state = SOURCE.state.parse(JSON.parse(JSON.stringify(value)));
    requests += api.requests.length;
    return failure === undefined;
  }

  for (let i = 0; i < POLLS; i += 1) {
    if (!(await poll(odd.get(i))) && !odd.has(i)) failed.push(i);
    for (let slot = 0; slot < intervalMs / SLOT_MS; slot += 1) chain.step();
  }
  chain.end();
  now += 96 * SLOT_MS;
  for (let i = 0; i < 12; i += 1) if (!(await poll(undefined))) failed.push(POLLS + i);
  return {
    state,
    truth: truthOf(chain, first, service.told, (proposer) => proposer <= WATCHED.last),
    requests,
    failed,
  };
}

/** Mostly near, where it is hard to tell; or far. */
const off = fc
  .oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 5, max: 40 }), fc.constantFrom(300, 80_000))
  .chain((far) => fc.constantFrom(far, -far));
const oddity: fc.Arbitrary<Odd> = fc.oneof(
  off.map((latest) => ({ latest })),
  off.map((finalized) => ({ finalized })),
  off.map((both) => ({ latest: both, finalized: both })),
  fc.record({ latest: off, finalized: off }),
  fc.record({ number: fc.constantFrom('the epoch before', 'its rows under this name', 'no rows', 'a refusal') }),
);
/** One odd poll, then at least two good ones; the first two are good, because the chain is not known before. */
const odds = fc
  .array(fc.tuple(fc.integer({ min: 3, max: 20 }), oddity), { minLength: 1, maxLength: 20 })
  .map((list) => {
    const odd = new Map<number, Odd>();
    let at = -1;
    for (const [after, one] of list) {
      at += after;
      odd.set(at, one);
    }
    return odd;
  });
const world: fc.Arbitrary<World> = fc.record({
  seed: fc.nat(1_000_000),
  beyond: fc.constantFrom('a refusal', 'scheduled rows'),
  coverage: fc.constantFrom('full', 'full', 'finalized'),
  odd: odds,
});

describe('sources/slashings odd answers', PATIENT, () => {
  it('cost the poll that got them and nothing after it: every counter equals the truth', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (drawn) => {
        const { state, truth, requests, failed } = await follow(drawn);
        expect(countersIn(state)).toEqual(truth.counters);
        expect(failed).toEqual([]);
        const quiet = await follow({ ...drawn, odd: new Map() });
        expect(requests).toBeLessThanOrEqual(quiet.requests + MAX_PER_ODD_POLL * drawn.odd.size);
      }),
      cases(20),
    );
  });
});
