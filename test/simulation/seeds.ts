import { simplerSettings } from './calm.ts';
import { drawStory } from './draw.ts';
import { simplerEvents, tellEvent } from './events/index.ts';
import { run } from './run.ts';
import { shrink } from './shrink.ts';
import type { Failure } from './shrink-search.ts';
import type { RareState } from './sometimes.ts';
import type { Story } from './story.ts';
import { tell } from './tell.ts';

/** What became of one seed. Plain data, for another thread. */
export interface SeedResult {
  readonly seed: number;
  readonly failure: Failure | undefined;
  readonly reached: Partial<Record<RareState, number>>;
  readonly requests: number;
  readonly simulatedMs: number;
}

export async function simulateSeed(seed: number, days: number | undefined): Promise<SeedResult> {
  const { failure, reached, requests, simulatedMs } = await run(drawStory(seed, days));
  const once = Object.fromEntries([...reached].map((state) => [state, 1]));
  return { seed, failure, reached: once, requests, simulatedMs };
}

const MAX_RUNS = 300;
const MAX_SECONDS = 90;
const LOG_LINES = 60;

/** A story from which too much is left out, such as the machine of an event, cannot be run: it does not fail. */
export async function failureOf(story: Story): Promise<Failure | undefined> {
  return run(story).then(
    ({ failure }) => failure,
    () => undefined,
  );
}

/** The shortest story found that fails in the same way; with `withLog` the end of what the program logged in it. */
export async function tellFailure(
  seed: number,
  days: number | undefined,
  failure: Failure,
  withLog: boolean,
): Promise<string> {
  const until = performance.now() + MAX_SECONDS * 1_000;
  const replay = `npm run simulate -- --seeds=1 --seed=${seed}${days === undefined ? '' : ` --days=${days}`}`;
  const story = drawStory(seed, days);
  try {
    const shrunk = await shrink(story, failureOf, {
      simplerSettings,
      simplerEvents,
      maxRuns: MAX_RUNS,
      isSpent: () => performance.now() > until,
    });
    const log = withLog ? (await run(shrunk.story)).log.slice(-LOG_LINES) : [];
    return [tell(shrunk.story, shrunk.failure, tellEvent, replay), ...log].join('\n');
  } catch (error) {
    // It fails no more, so something is random that must not be.
    return `${tell(story, failure, tellEvent, replay)}(not shortened: ${String(error)})\n`;
  }
}
