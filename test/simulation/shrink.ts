import { type Accepts, type Failure, Search } from './shrink-search.ts';
import { fewerEvents, shorter, simplerEvents, simplerSetting, simplerTimes } from './shrink-steps.ts';
import type { Setting, Story, StoryEvent } from './story.ts';

export interface ShrinkOptions {
  /** Simpler worlds than this one, the simplest first. */
  readonly simplerSettings: (setting: Setting) => readonly Setting[];
  /** The same event with simpler parameters, the simplest first. */
  readonly simplerEvents?: (event: StoryEvent) => readonly StoryEvent[];
  /** How many stories to run at most. */
  readonly maxRuns: number;
  /** Ends the search early, such as after some minutes. */
  readonly isSpent?: () => boolean;
}

export interface Shrunk {
  readonly story: Story;
  readonly failure: Failure;
  /** How many stories were run. */
  readonly runs: number;
}

/**
 * The shortest story found that fails at the same check. The same story and options give the same result, unless
 * `isSpent` depends on the time.
 * @throws TypeError where the story does not fail
 */
export async function shrink(
  story: Story,
  fails: (story: Story) => Promise<Failure | undefined>,
  options: ShrinkOptions,
): Promise<Shrunk> {
  const search = await Search.of(story, fails, options);
  const accepts: Accepts = (candidate) => search.accepts(candidate);
  const steps = [
    (from: Story) => shorter(from, search.failure, accepts),
    (from: Story) => fewerEvents(from, accepts),
    (from: Story) => simplerSetting(from, options.simplerSettings, accepts),
    (from: Story) => simplerEvents(from, options.simplerEvents ?? (() => []), accepts),
    (from: Story) => simplerTimes(from, accepts),
  ];
  let before: Story;
  do {
    before = search.story;
    for (const step of steps) await step(search.story);
  } while (search.story !== before);
  const { failure, runs } = search;
  return { story: search.story, failure, runs };
}
