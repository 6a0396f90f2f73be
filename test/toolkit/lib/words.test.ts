import { expect, it } from 'vitest';
import { absolute, cropped, listed, relative, spaced, span } from '../../../src/toolkit/lib/words.ts';
import { DAY, HOUR, MINUTE, NOW } from '../../support/time/timing.ts';

it.each([
  [400, '0 s'],
  [MINUTE, '1 min'],
  [10 * MINUTE + 20_000, '10 min'],
  [47 * HOUR, '1 d 23 h'],
  [-45_000, '45 s'],
])('writes %d ms as %s', (ms, text) => {
  expect(span(ms)).toBe(text);
});

it.each([
  [NOW, 'now', '12:01:00 UTC'],
  [NOW - 30_000, '30 s ago', '12:00:30 UTC'],
  [NOW + 13 * HOUR, 'in 13 h', '2026-10-01 01:01:00 UTC'],
  [NOW - 31 * DAY, '31 d ago', '2026-08-30 12:01:00 UTC'],
  [Number.POSITIVE_INFINITY, 'unknown', undefined],
  [1e300, 'unknown', undefined],
])('writes the time %d relative and absolute', (at, ago, clock) => {
  expect([relative(at, NOW), absolute(at, NOW)]).toEqual([ago, clock]);
});

it('writes names as words, and the first five of a list', () => {
  expect(spaced('sync_committee_x')).toBe('sync committee x');
  expect([listed([]), listed([1]), listed([1, 2, 3, 4, 5])]).toEqual(['', '1', '1, 2, 3, 4, 5']);
  expect(listed(['a', 'b', 'c', 'd', 'e', 'f'])).toBe('a, b, c, d, e and others');
});

it('crops a text between characters', () => {
  expect(cropped('abc', 3)).toBe('abc');
  expect(cropped('abcd', 3)).toBe('ab…');
  expect(cropped('🦀🦀🦀🦀', 3)).toBe('🦀🦀…');
});
