import { HOUR, MINUTE } from '../../support/time/timing.ts';
import type { TrafficEvent } from '../traffic.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { isRevocation } from './waits.ts';

/** Trouble with writes may show this much later. */
const AFTERWARDS_MS = 40_000;
/** After a pause a process needs a moment until its loops run again. */
const WAKING_MS = 2_000;
const STOPS_WITHIN_MS = 5_000;
const STOPS_AT_ONCE_MS = 1_000;

/** A process ends only on a signal, or refuses to start with a reason. */
export function endsForAReason(): Check {
  return {
    name: 'process: it never ends by itself',
    onEvent: (event, world) => (event.kind === 'ended' ? problemOf(event, world) : undefined),
  };
}

function problemOf(end: Extract<TrafficEvent, { kind: 'ended' }>, { host }: World): string | undefined {
  const { at, why, stoppingSince, pausedUntil } = end;
  if (why.startsWith('kill -9') || why === 'stopped while it started' || why.includes('config.yaml')) return undefined;
  if (stoppingSince === undefined) return why;
  // A stop cannot write while writes fail or take long.
  if (pausedUntil > stoppingSince - STOPS_WITHIN_MS) return undefined;
  const isTroubled = host.writeTroubleAt > stoppingSince - AFTERWARDS_MS;
  if (at - stoppingSince > (isTroubled ? STOPS_WITHIN_MS : STOPS_AT_ONCE_MS))
    return `it took ${at - stoppingSince} ms to stop: ${why}`;
  return why === 'stopped' || isTroubled ? undefined : why;
}

/** /-/healthy fails only if a restart would help. */
export function healthy(): Check {
  return {
    name: 'process: it is healthy',
    onMoment({ host: { process }, clock, traffic }) {
      if (!process?.program || process.isStopping || process.clock.isPaused) return undefined;
      if (clock.now() - process.clock.resumesAt < WAKING_MS) return undefined;
      const why = process.program.unhealthy();
      // Polls are really overdue where one of them has no end, such as the first one against a service that fails.
      return traffic.requests === 0 && why?.endsWith('is overdue') ? undefined : why;
    },
  };
}

type Cause = 'writes' | 'watched' | 'file' | 'refused' | 'revoked';

/** What may be logged as an error, and what in the story is the cause of it. */
const CAUSES: Readonly<Record<string, Cause>> = {
  'state not written': 'writes',
  'ledger not written': 'writes',
  'watched validator slashed': 'watched',
  'configuration not reloaded': 'file',
  'the service refuses the API key': 'refused',
  'the service revoked access': 'revoked',
};

/** Each error in the log has a cause in the story. */
export function errorsHaveCauses(): Check {
  const causes: Record<Cause, boolean> = { writes: false, watched: false, file: false, refused: false, revoked: false };
  return {
    name: 'process: errors in the log have a cause',
    onEvent({ kind, ...event }) {
      if (kind !== 'head' || !('sent' in event) || !event.sent.head) return undefined;
      const { status, headers } = event.sent.head;
      causes.refused ||= status === 401;
      causes.revoked ||= status === 429 && isRevocation(headers);
      return undefined;
    },
    onMoment({ host, exporter, isFileBroken }) {
      causes.watched ||= exporter.watch.length > 0;
      causes.file ||= isFileBroken;
      for (const { at, line } of host.process?.errors.splice(0) ?? []) {
        causes.writes = at - host.writeTroubleAt <= AFTERWARDS_MS;
        const cause = CAUSES[JSON.parse(line).msg];
        if (!cause || !causes[cause]) return line;
      }
      return undefined;
    },
  };
}

/** Usual are fewer than 40. A short story has some hundred requests, and may not leave a timer for each. */
const MAX_TIMERS = 150;
/** Usual are fewer than 40. */
const MAX_WRITES_A_MINUTE = 150;
const MAX_LOG_BYTES_AN_HOUR = 500_000;

/** Neither timers nor the log grow without end, and no loop spins. */
export function bounded(): Check {
  let last = { at: 0, writes: 0 };
  return {
    name: 'process: timers, writes and log are bounded',
    onMoment({ host: { process, documents }, clock }) {
      if (clock.waiting > MAX_TIMERS) return `${clock.waiting} timers wait`;
      const { writes } = documents;
      const rate = (writes - last.writes) / (1 + (clock.now() - last.at) / MINUTE);
      last = { at: clock.now(), writes };
      if (rate > MAX_WRITES_A_MINUTE) return `${Math.round(rate)} writes a minute`;
      if (!process) return undefined;
      const hours = 1 + (clock.now() - process.startedAt) / HOUR;
      if (process.logBytes <= MAX_LOG_BYTES_AN_HOUR * hours) return undefined;
      return `${process.logBytes} bytes are logged in ${hours - 1} h: ${process.lines.at(-1)}`;
    },
  };
}
