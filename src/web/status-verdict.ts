import { bucketOpensAt } from '../budget/bucket.ts';
import { takenShare } from '../budget/taken-by-others.ts';
import type { UnixMs } from '../lib/time.ts';
import { absolute, plural, relative, spaced, span } from '../lib/words.ts';
import type { Wait } from '../scheduler/schedule.ts';
import type { SourceView } from '../scheduler/views.ts';
import { type Notice, notice } from '../sources/content.ts';
import type { StatusInput } from './status-input.ts';
import { stateOf } from './status-sources.ts';

/** The page's headline: the key first, because without it nothing else matters. */
export function verdictOf({ views, ledger }: StatusInput, notices: readonly Notice[]): Notice {
  if (ledger.key.standing === 'revoked') return notice('bad', 'Stopped: access is revoked');
  if (ledger.key.standing === 'refused') return notice('bad', 'Not working: the key is refused');
  const waiting = views.filter(({ wait }) => wait).length;
  if (waiting > 0 && waiting === views.length) return notice('bad', 'Not working: all sources wait for the quota');
  if (views.length > 0 && views.every(({ entry }) => entry.attempts === 0)) return notice('neutral', 'Starting');
  const broken = views.filter(({ entry }) => entry.failuresInARow > 0).length;
  if (broken > 0 && broken === views.length) return notice('bad', 'Not working');
  if (notices.some(({ tone }) => tone === 'bad')) return notice('bad', 'Needs attention');
  if (waiting > 0) return notice('warning', `Waiting for the quota: ${waiting} of ${plural(views.length, 'source')}`);
  if (notices.some(({ tone }) => tone === 'warning')) return notice('warning', 'Working, with something to look at');
  return notice('good', 'Working');
}

/** What an operator should know of the configuration, the key, the sources and the budget. */
export function noticesOf(input: StatusInput, now: UnixMs): Notice[] {
  return [...configNotices(input), ...keyNotices(input, now)];
}

function configNotices({ isConfigRead }: StatusInput): Notice[] {
  if (isConfigRead) return [];
  const text = 'The configuration was refused when it was last reloaded; the one before holds. The log says why.';
  return [notice('warning', text)];
}

/** If the key is not accepted, nothing else matters. */
function keyNotices(input: StatusInput, now: UnixMs): Notice[] {
  const { standing, since, validHeader } = input.ledger.key;
  switch (standing) {
    case 'revoked':
      return [
        notice(
          'bad',
          `The service ended access ${relative(since, now)}: the trial is over or the subscription was cancelled. Nothing is asked any more until there is another key, or the exporter is restarted.`,
        ),
      ];
    case 'refused':
      return [
        notice(
          'bad',
          `The service refused the key ${relative(since, now)}. Get or renew a key at beaconcha.in and set it. One request in ten minutes asks whether the key is accepted.`,
        ),
      ];
    default:
      return [
        ...(validHeader === false ? [notice('bad', 'The service does not take the key for a valid one.')] : []),
        ...startNotices(input),
        ...failureNotices(input.views, now),
        ...waitNotices(input, now),
        ...stretchNotices(input.views),
        ...othersNotices(input, now),
      ];
  }
}

function startNotices({ views }: StatusInput): Notice[] {
  const waiting = views.filter(({ entry }) => entry.attempts === 0).length;
  if (waiting === 0) return [];
  return [notice('neutral', `${waiting} of ${plural(views.length, 'source')} not polled yet.`)];
}

function failureNotices(views: readonly SourceView[], now: UnixMs): Notice[] {
  const failing = views.filter((view) => stateOf(view, now).tone === 'bad');
  if (failing.length === 0) return [];
  const names = failing.map(nameOf).join(', ');
  return [notice('bad', `${failing.length} of ${plural(views.length, 'source')} failing: ${names}.`)];
}

const LIMITS = {
  hour: 'the quota of the hour',
  month: 'the quota of the month',
  '429': 'the service, which refused with 429',
} as const satisfies Record<Wait['limit'], string>;

function waitNotices({ views, ledger, budgetOptions }: StatusInput, now: UnixMs): Notice[] {
  const waiting = Map.groupBy(
    views.flatMap((view) => (view.wait ? [{ view, ...view.wait }] : [])),
    ({ limit, until }) => `${LIMITS[limit]}, until ${absolute(until, now)} (${relative(until, now)})`,
  );
  if (waiting.size > 0) {
    return [...waiting].map(([what, group]) => {
      const names = group.map(({ view }) => nameOf(view)).join(', ');
      return notice('warning', `Waiting for ${what}: ${names}. Values go as they do in an outage.`);
    });
  }
  const opensAt = Object.values(ledger.buckets).map((bucket) => bucketOpensAt(bucket, budgetOptions, now));
  const last = Math.max(0, ...opensAt);
  if (last <= now) return [];
  return [notice('warning', `The budget is closed: requests leave again ${relative(last, now)}.`)];
}

function stretchNotices(views: readonly SourceView[]): Notice[] {
  const stretched = views.filter(({ source, pace, wait }) => !wait && pace.intervalMs > source.intervalMs);
  if (stretched.length === 0) return [];
  const changes = stretched.map(
    (view) => `${nameOf(view)} every ${span(view.pace.intervalMs)} instead of ${span(view.source.intervalMs)}`,
  );
  return [notice('warning', `The budget does not allow the configured intervals: ${changes.join('; ')}.`)];
}

/** Of what this exporter would have: more is much, as for the alert QuotaTakenByOthers. */
export const MUCH_TAKEN_RATIO = 0.5;

/** What others use matters only where it makes polls rarer. */
function othersNotices({ views, ledger, budgetOptions }: StatusInput, now: UnixMs): Notice[] {
  return Object.entries(ledger.buckets).flatMap(([name, bucket]): Notice[] => {
    const share = takenShare(bucket, budgetOptions, now);
    const polled = views.filter((view) => view.bucket === name);
    const isFelt = polled.some(({ source, pace, wait }) => wait || pace.intervalMs > source.intervalMs);
    if (share <= MUCH_TAKEN_RATIO || !isFelt) return [];
    const taken = `${Math.round(share * 100)} % of the requests that this exporter would have without them`;
    return [notice('warning', `Others on the account take ${taken}: polls come more rarely because of them.`)];
  });
}

function nameOf({ source }: SourceView): string {
  const name = spaced(source.name);
  return source.chain ? `${name} of ${source.chain}` : name;
}
