import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AttesterSlashing, blocksAt } from '../../../src/sandbox/chain-world.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { type Entry, emptyEntry } from '../../../src/scheduler/entry.ts';
import { NO_INPUTS } from '../../../src/sources/read.ts';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import type { Slashings } from '../../../src/sources/slashings/state.ts';
import { Chain, slashingOf } from '../../simulation/service/chain.ts';
import { canonicalSlashings, truthOf } from '../../simulation/service/chain-truth.ts';
import { failed, fakeApi, type SentRequest } from '../../support/answers/fake-api.ts';
import { askedFor, chainAnswer } from '../../support/answers/slot-rows.ts';
import { seriesIn } from '../../support/exposition/samples.ts';
import { round } from '../../support/runs/round.ts';
import { slashingsOptions } from '../../support/runs/slashings-options.ts';
import { MINUTE, NOW, timing } from '../../support/time/timing.ts';
import { cases, PATIENT } from '../../support/vitest/fuzz.ts';

type Fault = 'away' | 'broken off' | 'details fail' | undefined;

/** Half of the proposers of the chain. */
const WATCHED = { first: 0, last: 49 };
const SOURCE = slashingsSource(slashingsOptions({ watch: [WATCHED] }));

/** The entry of the source, and the expected one: the reference. */
interface Run {
  readonly entry: Entry<Slashings>;
  /** Slashings that were canonical when the source looked. */
  readonly seen: ReadonlySet<AttesterSlashing>;
  /** The first finalized epoch that was reported to the source. */
  readonly first: number | undefined;
}

/** The details of a block are tried three times before finality, so at most two polls of a run may break off. */
const MAX_BROKEN_POLLS = 2;

async function poll(sandbox: Sandbox, run: Run, now: number, fault: Fault): Promise<Run> {
  const { mainnet: world } = sandbox.chains;
  const finalized = Number(world.finalized);
  const seen = new Set(run.seen);
  let { first } = run;
  let requests = 0;
  const epochs: number[] = [];

  function answer(request: SentRequest): unknown {
    const asked = askedFor(request.path);
    requests += 1;
    if (fault === 'away' || (fault === 'broken off' && requests > 1)) throw failed(request, 'network');
    if (asked.startsWith('slot/')) {
      if (fault === 'details fail') throw failed(request, 'server_error');
      const canonical = blocksAt(world, Number(asked.slice(5))).find(({ isCanonical }) => isCanonical);
      for (const one of canonical?.attesterSlashings ?? []) seen.add(one);
      return { data: chainAnswer(sandbox, request) };
    }
    if (asked === 'finalized') first ??= finalized;
    const data = chainAnswer(sandbox, request);
    // After the two requests of the head pass, an epoch that is not final is read only for the parent of its first block.
    const epoch = Number(data[0]?.['epoch']);
    if (requests <= 2 || epoch <= finalized) epochs.push(epoch);
    return { data };
  }

  const { entry, failure } = await round(SOURCE, fakeApi(answer), run.entry, { now });
  // Without a failure, all canonical slashings of the epochs that were read are known.
  if (!failure) for (const one of epochs.flatMap((epoch) => canonicalSlashings(world, epoch))) seen.add(one);
  return { entry, seen, first };
}

/** Every number that a counter has, in a fixed order. */
function counters({ value }: Entry<Slashings>): number[] {
  return Object.values(value.totals).flatMap((total) => (typeof total === 'number' ? total : Object.values(total)));
}

const SLASHINGS = Array.from({ length: 8 }, (_, n) => slashingOf(n));
const block = fc.oneof(
  { weight: 6, arbitrary: fc.constant([]) },
  { weight: 2, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.subarray(SLASHINGS, { minLength: 1, maxLength: 2 }) },
);
const blocks = fc.array(block, { minLength: 1, maxLength: 40 });
const step = fc.oneof(
  fc.record({ do: fc.constant('grow' as const), blocks }),
  fc.record({ do: fc.constant('reorganise' as const), depth: fc.integer({ min: 1, max: 70 }), blocks }),
  fc.record({ do: fc.constant('finalize' as const), epochs: fc.integer({ min: 1, max: 3 }) }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('poll' as const),
      fault: fc.constantFrom<Fault>(undefined, undefined, 'away', 'broken off', 'details fail'),
      killed: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    }),
  },
);

describe('sources/slashings model', PATIENT, () => {
  it('counts each slashing once that was canonical when it was read or final, through reorganisations and kills', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const sandbox = new Sandbox();
        const chain = new Chain(sandbox.chains.mainnet, 405_000);
        let run: Run = { entry: emptyEntry(SOURCE), seen: new Set(), first: undefined };
        let now = NOW;
        let broken = 0;
        for (const one of steps) {
          if (one.do === 'grow') for (const slashings of one.blocks) slashings ? chain.add(slashings) : chain.miss();
          else if (one.do === 'reorganise') chain.reorganise(one.depth, one.blocks);
          else if (one.do === 'finalize') chain.finalize(one.epochs);
          else {
            now += MINUTE;
            if (one.fault && one.fault !== 'away') broken += 1;
            const next = await poll(sandbox, run, now, broken > MAX_BROKEN_POLLS ? undefined : one.fault);
            const before = counters(run.entry);
            expect(counters(next.entry).every((count, i) => count >= (before[i] ?? 0))).toBe(true);
            if (!one.killed) run = next;
          }
        }

        // At the end all is final, and the head has advanced, so that the source reads finality.
        for (let i = 0; i < 32; i += 1) chain.add([]);
        chain.finalize(1_000);
        for (let i = 0; i < 10; i += 1) {
          now += MINUTE;
          run = await poll(sandbox, run, now, undefined);
        }

        const first = run.first ?? chain.finalized;
        const epochs = Array.from({ length: chain.finalized - first + 1 }, (_, i) => first + i);
        const shown = seriesIn(SOURCE.metrics(run.entry.value, timing({ now }), NO_INPUTS), 'mainnet');
        expect(shown).toMatchObject(truthOf(chain.world, epochs, run.seen, (proposer) => proposer <= WATCHED.last));
      }),
      cases(150),
    );
  });
});
