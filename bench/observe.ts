/** Loaded into a process before its program: tells its parent once a second how it is. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Turns } from './turns.ts';

export interface Observation {
  readonly rssMiB: number;
  /** Since the one before. */
  readonly turnMs: number;
  readonly delayMs: number;
}

const turns = new Turns();
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

setInterval(() => {
  const observation: Observation = {
    rssMiB: process.memoryUsage.rss() / 2 ** 20,
    turnMs: turns.take(),
    delayMs: delay.max / 1e6,
  };
  delay.reset();
  process.send?.(observation);
}, 1_000).unref();
// The channel to the parent is no reason to live on.
process.channel?.unref();
