import { plural } from '../lib/words.ts';
import { type Notice, notice } from '../sources/content.ts';
import type { StatusInput } from './status-input.ts';

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
  if (notices.some(({ tone }) => tone === 'warning')) return notice('warning', 'Working, with warnings');
  return notice('good', 'Working');
}
