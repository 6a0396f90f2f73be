import { isAdmitted } from './options.ts';
import { CLOCK_AHEAD_SECONDS, type Reading, readPage } from './reading.ts';
import type { Machines } from './schema.ts';

type Lookback = NonNullable<Machines['lookback']>;

/** How far back silent machines are looked for, hours. */
const PROBES = [1, 3, 6, 12, 24];
/** A minute's records of so many machines fit on a page. */
const MOST_PROBED = 10;
const PROBE_SECONDS = 62;
/** The service keeps records for 31 days (api facts 2). */
const KEPT_SECONDS = 31 * 86_400;
const MOST_ASKED_PER_HOUR = 20;
const HOUR_MS = 3_600_000;

/**
 * What the first sweeps read beyond the last minute. A small fleet is probed once for machines that went silent before;
 * an expected machine that was not found is asked for once over all that is kept. Each is noted in the sweep before it is
 * tried: what the service refuses would else be asked for at every sweep.
 */
export async function lookBack(reading: Reading, previous: Lookback | undefined): Promise<Lookback> {
  const { sweep } = reading;
  sweep.lookback = { probed: true, asked: previous?.asked ?? [] };
  const isSmall = sweep.machines.size <= MOST_PROBED;
  if (previous === undefined && isSmall) await probe(reading);
  return askExpected(reading, sweep.lookback);
}

async function probe(reading: Reading): Promise<void> {
  const seconds = Math.floor(reading.now / 1000);
  for (const hours of PROBES) {
    const end = seconds - hours * 3_600;
    await readPage(reading, { start: end - PROBE_SECONDS, end });
  }
}

async function askExpected(reading: Reading, lookback: Lookback): Promise<Lookback> {
  const { options, sweep, now } = reading;
  const { asked } = lookback;
  const end = Math.floor(now / 1000) + CLOCK_AHEAD_SECONDS;
  const known = new Set(asked.map(([name]) => name));
  const wanted = options.expected.filter(
    (name) => isAdmitted(options, name) && !sweep.machines.has(name) && !known.has(name),
  );
  const recent = asked.filter(([, at]) => now - at < HOUR_MS).length;
  const batch = [...new Set(wanted)].slice(0, Math.max(0, MOST_ASKED_PER_HOUR - recent));
  let progress = lookback;
  for (const name of batch) {
    progress = { ...progress, asked: [...progress.asked, [name, now]] };
    sweep.lookback = progress;
    await readPage(reading, { start: end - KEPT_SECONDS, end }, [name]);
  }
  return progress;
}
