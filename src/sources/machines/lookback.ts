import { type FailureReason, RequestFailed } from '../../api/errors.ts';
import { CLOCK_AHEAD_SECONDS } from '../../lib/clock.ts';
import { MS_PER_HOUR, SECONDS_PER_DAY } from '../../lib/duration.ts';
import { isAdmitted } from './options.ts';
import { type Reading, readPage } from './reading.ts';
import type { Machines } from './schema.ts';

type Lookback = NonNullable<Machines['lookback']>;

/** How far back silent machines are looked for, hours. */
const PROBES = [1, 3, 6, 12, 24];
/** A minute's records of so many machines fit on a page. */
const MAX_PROBED = 10;
const PROBE_SECONDS = 62;
/** The service keeps records for 31 days (api-facts 2). */
export const RECORDS_KEPT_SECONDS = 31 * SECONDS_PER_DAY;
const MAX_ASKED_PER_HOUR = 20;

/** An answer that cannot be read may come each time: the sweep would fail for ever. */
const MAX_TRIES = 5;
/** The service has decided: asking again would bring the same. */
const DECIDED: readonly string[] = [
  'bad_request',
  'forbidden',
  'not_found',
  'method_not_allowed',
] satisfies FailureReason[];

/**
 * What the first sweeps read beyond the last minute. A small fleet is probed once for machines that went silent before;
 * an expected machine that was not found is asked for once over all that is kept. Each counts as asked once it was
 * answered, or refused; what failed otherwise is tried again by the next sweeps.
 */
export async function lookBack(reading: Reading, previous: Lookback | undefined): Promise<Lookback> {
  const { sweep } = reading;
  const isSmall = sweep.machines.size <= MAX_PROBED;
  const probed = previous === undefined ? !isSmall : previous.probed;
  sweep.lookback = { asked: [], ...previous, probed };
  if (!probed) await probe(reading, sweep.lookback);
  await askExpected(reading);
  return sweep.lookback;
}

async function probe(reading: Reading, { probes = 0 }: Lookback): Promise<void> {
  const seconds = Math.floor(reading.now / 1000);
  for (const [i, hours] of PROBES.entries()) {
    if (i < probes) continue;
    const end = seconds - hours * 3_600;
    const isLast = i === PROBES.length - 1;
    const done: Change = ({ asked }) => (isLast ? { probed: true, asked } : { probed: false, asked, probes: i + 1 });
    // A service that refuses one range of the past refuses the others.
    const refused: Change = ({ asked }) => ({ probed: true, asked });
    await answered(reading, { done, refused }, () => readPage(reading, { start: end - PROBE_SECONDS, end }));
  }
}

async function askExpected(reading: Reading): Promise<void> {
  const { options, sweep, now } = reading;
  const asked = sweep.lookback?.asked ?? [];
  const end = Math.floor(now / 1000) + CLOCK_AHEAD_SECONDS;
  const known = new Set(asked.map(([name]) => name));
  const wanted = options.expected.filter(
    (name) => isAdmitted(options, name) && !sweep.machines.has(name) && !known.has(name),
  );
  const recent = asked.filter(([, at]) => now - at < MS_PER_HOUR).length;
  const batch = [...new Set(wanted)].slice(0, Math.max(0, MAX_ASKED_PER_HOUR - recent));
  for (const name of batch) {
    const done: Change = (lookback) => ({ ...lookback, asked: [...lookback.asked, [name, now]] });
    const range = { start: end - RECORDS_KEPT_SECONDS, end };
    await answered(reading, { done, refused: done }, () => readPage(reading, range, [name]));
  }
}

type Change = (lookback: Lookback) => Lookback;

function note({ sweep }: Reading, change: Change): void {
  const { tries: _, ...lookback } = sweep.lookback ?? { probed: false, asked: [] };
  sweep.lookback = change(lookback);
}

/** Notes what was asked once there is an answer, a refusal, or no hope of one. */
async function answered(
  reading: Reading,
  { done, refused }: { done: Change; refused: Change },
  ask: () => Promise<unknown>,
): Promise<void> {
  try {
    await ask();
  } catch (error) {
    const { sweep, signal } = reading;
    if (signal.aborted) throw error;
    const tries = (sweep.lookback?.tries ?? 0) + 1;
    if (error instanceof RequestFailed && DECIDED.includes(error.reason)) note(reading, refused);
    else if (tries >= MAX_TRIES) note(reading, done);
    else sweep.lookback = { probed: false, asked: [], ...sweep.lookback, tries };
    throw error;
  }
  note(reading, done);
}
