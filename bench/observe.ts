/** Loaded into a process before its program: tells its parent once a second how it is. */
import { Turns } from './turns.ts';

export interface Observation {
  readonly rssMiB: number;
  /** The longest since the observation before. */
  readonly turnMs: number;
}

const turns = new Turns();

setInterval(() => {
  const observation: Observation = { rssMiB: process.memoryUsage.rss() / 2 ** 20, turnMs: turns.take() };
  process.send?.(observation);
}, 1_000).unref();
// The channel to the parent is no reason to live on.
process.channel?.unref();
