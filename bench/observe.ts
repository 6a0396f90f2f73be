/** Loaded into a process before its program. Reports its memory and event loop to the parent once a second. */
import { Turns } from './turns.ts';

export interface Observation {
  readonly rssMiB: number;
  /** The longest turn since the previous observation. */
  readonly turnMs: number;
}

const turns = new Turns();

setInterval(() => {
  const observation: Observation = { rssMiB: process.memoryUsage.rss() / 2 ** 20, turnMs: turns.take() };
  process.send?.(observation);
}, 1_000).unref();
// The channel to the parent must not keep the process alive.
process.channel?.unref();
