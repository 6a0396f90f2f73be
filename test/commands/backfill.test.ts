import { expect, it } from 'vitest';
import { endOf, liveSince, reasonOf } from '../../src/commands/backfill.ts';

const NOW = Date.UTC(2026, 10, 20, 12) / 1000;
const FIRST_START = Date.UTC(2026, 10, 10, 18);
/** Six minutes before, because the first sweep shows records of that age. */
const BEFORE = FIRST_START / 1000 - 360;
const LIVE = liveSince({}, FIRST_START);

const LIVE_FROM = FIRST_START / 1000 + 86_400;
const ENDS = 'The backfill ends at';

it.each([
  ['now without a first start', undefined, liveSince({}, undefined), NOW, undefined],
  ['where the user says', NOW - 60, liveSince({}, undefined), NOW - 60, undefined],
  [
    'before the first start of the exporter',
    undefined,
    LIVE,
    BEFORE,
    `${ENDS} 2026-11-10 17:54:00 UTC, because the exporter first started at 2026-11-10 18:00:00 UTC.`,
  ],
  ['where the user says before the first start', BEFORE - 60, LIVE, BEFORE - 60, undefined],
  [
    'after the first start only with a warning',
    NOW,
    LIVE,
    NOW,
    expect.stringMatching(
      /^Warning: the exporter first started at 2026-11-10 18:00:00 UTC, before --end: counters step back/,
    ),
  ],
  [
    'before the first epoch that the exporter counted',
    undefined,
    liveSince({ liveFrom: LIVE_FROM }, FIRST_START),
    LIVE_FROM,
    `${ENDS} 2026-11-11 18:00:00 UTC, because the exporter counts epochs from 2026-11-11 18:00:00 UTC on.`,
  ],
  ['now if the exporter has counted no epoch', undefined, liveSince({ liveFrom: null }, FIRST_START), NOW, undefined],
])('a backfill ends %s', (_, wanted, live, end, note) => {
  expect(endOf(wanted, live, NOW)).toEqual({ end, note });
});

it.each([
  ['ENOSPC: no space left on device, write', { code: 'ENOSPC', syscall: 'write' }],
  ['database or disk is full', { code: 'ERR_SQLITE_ERROR' }],
])('a backfill that ends with %s names its files', (message, code) => {
  const error = Object.assign(new Error(message), code);
  const why = `/data/past.om or a file in /data/past.om.backfill cannot be written or read: ${message}.`;
  expect(reasonOf(error, '/data/past.om')).toBe(why);
});
