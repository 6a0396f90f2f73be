import { expect, it } from 'vitest';
import { endOf, liveSince } from '../../src/commands/backfill.ts';

const NOW = Date.UTC(2026, 10, 20, 12) / 1000;
const FIRST_START = Date.UTC(2026, 10, 10, 18);
/** Six minutes before: the first sweep shows records that are as old. */
const BEFORE = FIRST_START / 1000 - 360;
const LIVE = liveSince({}, FIRST_START);

it('ends now, or where the user says, if no exporter has started with the state', () => {
  expect(liveSince({}, undefined)).toBeUndefined();
  expect(endOf(undefined, undefined, NOW)).toEqual({ end: NOW });
  expect(endOf(NOW - 60, undefined, NOW)).toEqual({ end: NOW - 60 });
});

it('ends before the first start of the exporter, and reports it', () => {
  expect(endOf(undefined, LIVE, NOW)).toEqual({
    end: BEFORE,
    note: 'The backfill ends at 2026-11-10 17:54:00 UTC, because the exporter first started at 2026-11-10 18:00:00 UTC.',
  });
  expect(endOf(BEFORE - 60, LIVE, NOW)).toEqual({ end: BEFORE - 60 });
});

it('warns of a later end that counters step back', () => {
  const { end, note } = endOf(NOW, LIVE, NOW);
  expect(end).toBe(NOW);
  expect(note).toMatch(
    /^Warning: the exporter first started at 2026-11-10 18:00:00 UTC, before --end: counters step back/,
  );
});

it('of epochs ends before the first that the exporter counted, whenever that first started', () => {
  const liveFrom = FIRST_START / 1000 + 86_400;
  expect(endOf(undefined, liveSince({ liveFrom }, FIRST_START), NOW)).toEqual({
    end: liveFrom,
    note: 'The backfill ends at 2026-11-11 18:00:00 UTC, because the exporter counts epochs from 2026-11-11 18:00:00 UTC on.',
  });
  expect(endOf(undefined, liveSince({ liveFrom: null }, FIRST_START), NOW)).toEqual({ end: NOW });
});
