import { HOUR } from '../../support/timing.ts';
import { POWER_LOST } from '../exporter-process.ts';
import type { Ended, World } from '../world.ts';
import type { Check } from './check.ts';
import { storeTroubleAt } from './circumstances.ts';
import { following } from './following.ts';
import { isRevocation } from './waits.ts';

/** Trouble may show this much later: a lock is watched for half a minute, and a command to Redis is tried three times. */
const AFTERWARDS_MS = 40_000;
/** After a pause a process needs a moment until its loops run again. */
const WAKING_MS = 2_000;
const STOPS_WITHIN_MS = 5_000;
const STOPS_AT_ONCE_MS = 1_000;

/** A process ends when it is told to, or refuses to start for a reason. */
export function endsForAReason(): Check {
  let seen = 0;
  return {
    name: 'process: it never ends by itself',
    onMoment(world) {
      for (; seen < world.ends.length; seen += 1) {
        const wrong = problemOf(world.ends[seen] as Ended, world);
        if (wrong !== undefined) return wrong;
      }
      return undefined;
    },
  };
}

function problemOf({ host, at, why, startedAt, stoppingSince, pausedUntil }: Ended, world: World): string | undefined {
  if (why.startsWith('kill -9') || why === POWER_LOST || why === 'stopped while it started') return undefined;
  const isWell = storeTroubleAt(world, host) < startedAt - AFTERWARDS_MS;
  if (why.includes('written by a newer version') && at <= world.host(host).newerStateUntil + AFTERWARDS_MS)
    return undefined;
  if (why.startsWith('refused: StateRefused: ')) return isWell ? `${host} has no reason: ${why}` : undefined;
  if (why.includes('config.yaml')) return undefined;
  if (stoppingSince === undefined) return `${host}: ${why}`;
  // A stop cannot write to a disk or to a server that does not answer.
  if (pausedUntil > stoppingSince - STOPS_WITHIN_MS) return undefined;
  const limit = storeTroubleAt(world, host) > stoppingSince - AFTERWARDS_MS ? STOPS_WITHIN_MS : STOPS_AT_ONCE_MS;
  if (at - stoppingSince > limit) return `${host} took ${at - stoppingSince} ms to stop: ${why}`;
  return why === 'stopped' || limit === STOPS_WITHIN_MS ? undefined : `${host}: ${why}`;
}

/** A restart is asked for only where it would help. */
export function healthy(): Check {
  return {
    name: 'process: it is healthy',
    onMoment({ hosts, clock, service }) {
      for (const { name, process } of hosts) {
        if (!process?.exporter || process.isStopping || process.clock.isPaused) continue;
        if (clock.now() - process.clock.resumesAt < WAKING_MS) continue;
        const why = process.exporter.engine().unhealthy();
        // Polls are really overdue where one of them has no end, such as the first one against a service that fails.
        const isOverdue = why?.endsWith('is overdue') && service.records.count === 0;
        if (why !== undefined && !isOverdue) return `${name}: ${why}`;
      }
      return undefined;
    },
  };
}

type Cause = 'store' | 'watched' | 'file' | 'refused' | 'revoked';

/** What may be logged as an error, and what in the story is the cause of it. */
const CAUSES: Readonly<Record<string, Cause>> = {
  'state not written': 'store',
  'ledger not written': 'store',
  'redis is unreachable': 'store',
  'role not changed': 'store',
  'cannot lead': 'store',
  'watched validator slashed': 'watched',
  'configuration not reloaded': 'file',
  'the API key is refused': 'refused',
  'access is revoked': 'revoked',
};

/** Each error in the log has a cause in the story. */
export function errorsHaveCauses(): Check {
  let wasRefused = false;
  let wasRevoked = false;
  const watched = new Set<number>();
  const follower = following('process: errors in the log have a cause', ({ kind, ...event }) => {
    if (kind !== 'head' || !('sent' in event) || !event.sent.head) return undefined;
    const { status, headers } = event.sent.head;
    wasRefused ||= status === 401;
    wasRevoked ||= status === 429 && isRevocation(headers);
    return undefined;
  });

  function hasCause(line: string, isStoreTroubled: boolean): boolean {
    const { msg, err = '', validators = [] }: { msg: string; err?: string; validators?: number[] } = JSON.parse(line);
    const causes: Readonly<Record<Cause, boolean>> = {
      store: isStoreTroubled,
      watched: validators.some((one) => watched.has(one)),
      file: isStoreTroubled || err.includes('config.yaml'),
      refused: wasRefused,
      revoked: wasRevoked,
    };
    const cause = CAUSES[msg];
    return cause !== undefined && causes[cause];
  }

  return {
    ...follower,
    onMoment(world) {
      follower.onMoment(world);
      for (const validator of world.exporter.watch) watched.add(validator);
      for (const { name, process, pausedAt } of world.hosts) {
        for (const { at, line } of process?.errors.splice(0) ?? []) {
          const last = Math.max(storeTroubleAt(world, name), pausedAt);
          if (!hasCause(line, at - last <= AFTERWARDS_MS)) return `${name}: ${line}`;
        }
      }
      return undefined;
    },
  };
}

/** Usual are fewer than 40. A short story has some hundred requests, and may not leave a timer for each. */
const MAX_TIMERS = 150;
const MAX_LOG_BYTES_AN_HOUR = 500_000;

/** Neither timers nor the log grow without end. */
export function bounded(): Check {
  return {
    name: 'process: timers and log are bounded',
    onMoment({ hosts, clock }) {
      if (clock.waiting > MAX_TIMERS * hosts.length) return `${clock.waiting} timers wait`;
      for (const { name, process } of hosts) {
        if (!process) continue;
        const hours = 1 + (clock.now() - process.startedAt) / HOUR;
        if (process.logBytes > MAX_LOG_BYTES_AN_HOUR * hours)
          return `${name} has logged ${process.logBytes} bytes in ${hours - 1} h: ${process.lines.at(-1)}`;
      }
      return undefined;
    },
  };
}
