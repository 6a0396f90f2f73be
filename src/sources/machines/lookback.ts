import { CLOCK_AHEAD_SECONDS } from '../../lib/clock.ts';
import { MS_PER_HOUR, SECONDS_PER_DAY } from '../../lib/duration.ts';
import { isRefusal } from '../refusal.ts';
import { isIncluded, MAX_PUSH_SECONDS } from './options.ts';
import { readPage, type SweepContext } from './reading.ts';
import type { Machines } from './schema.ts';

type Lookback = NonNullable<Machines['lookback']>;

/** How far back silent machines are searched for, in hours. */
const PROBES = [1, 3, 6, 12, 24];
/** One minute of this many machines fits on a page. */
const MAX_PROBED_MACHINES = 10;
/** The service keeps records for 31 days (api-facts 2). */
export const RECORDS_KEPT_SECONDS = 31 * SECONDS_PER_DAY;
const MAX_ASKED_PER_HOUR = 20;

/**
 * After this many attempts a request is given up. Otherwise a response that is never readable would fail every sweep.
 */
const MAX_TRIES = 5;

/** A sweep that has started to look back. */
type Looking = SweepContext & { readonly sweep: { lookback: Lookback } };
type Change = (lookback: Lookback) => Lookback;

/**
 * What the first sweeps read beyond the last minute. In a small fleet they search once for machines that are already
 * silent. An expected machine that was not found is requested once, over the whole retention of the service. Each is
 * done when the service has responded or refused. After any other failure the next sweep tries again.
 */
export async function lookBack(context: SweepContext): Promise<void> {
  const { sweep } = context;
  const lookback = sweep.lookback ?? { probed: sweep.machines.size > MAX_PROBED_MACHINES, asked: [] };
  const looking = { ...context, sweep: Object.assign(sweep, { lookback }) };
  if (!lookback.probed) await probe(looking);
  await askExpected(looking);
}

async function probe(context: Looking): Promise<void> {
  const seconds = Math.floor(context.now / 1000);
  const { probes = 0 } = context.sweep.lookback;
  for (const [i, hours] of PROBES.entries()) {
    if (i < probes) continue;
    const end = seconds - hours * 3_600;
    const isLast = i === PROBES.length - 1;
    const done: Change = ({ asked }) => (isLast ? { probed: true, asked } : { probed: false, asked, probes: i + 1 });
    // If the service refuses one range of the past, it refuses the others too.
    const refused: Change = ({ asked }) => ({ probed: true, asked });
    await askAndNote(context, { done, refused }, () => readPage(context, { start: end - MAX_PUSH_SECONDS, end }));
  }
}

async function askExpected(context: Looking): Promise<void> {
  const { options, sweep, now } = context;
  const { asked } = sweep.lookback;
  const end = Math.floor(now / 1000) + CLOCK_AHEAD_SECONDS;
  const known = new Set(asked.map(([name]) => name));
  const wanted = options.expected.filter(
    (name) => isIncluded(options, name) && !sweep.machines.has(name) && !known.has(name),
  );
  const recent = asked.filter(([, at]) => now - at < MS_PER_HOUR).length;
  const batch = [...new Set(wanted)].slice(0, Math.max(0, MAX_ASKED_PER_HOUR - recent));
  for (const name of batch) {
    const done: Change = (lookback) => ({ ...lookback, asked: [...lookback.asked, [name, now]] });
    const range = { start: end - RECORDS_KEPT_SECONDS, end };
    await askAndNote(context, { done, refused: done }, () => readPage(context, range, [name]));
  }
}

/** Marks a request as done after a response, a refusal, or too many attempts. */
async function askAndNote(
  { sweep, signal }: Looking,
  { done, refused }: { done: Change; refused: Change },
  ask: () => Promise<unknown>,
): Promise<void> {
  const { tries = 0, ...before } = sweep.lookback;
  try {
    await ask();
  } catch (error) {
    if (signal.aborted) throw error;
    if (isRefusal(error)) sweep.lookback = refused(before);
    else if (tries + 1 >= MAX_TRIES) sweep.lookback = done(before);
    else sweep.lookback = { ...before, tries: tries + 1 };
    throw error;
  }
  sweep.lookback = done(before);
}
