import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chainOf, isForgotten, isIncluded, machineName, staleAfter } from '../../../src/sources/machines/options.ts';
import { lastSeen } from '../../../src/sources/machines/schema.ts';
import { cases, PATIENT } from '../../support/fuzz.ts';
import { machinesOptions } from '../../support/machine-records.ts';
import { DAY, HOUR, MINUTE, NOW, timing } from '../../support/timing.ts';

describe('sources/machines/options', PATIENT, () => {
  it('calls a machine without a name unnamed', () => {
    expect(['', null, undefined].map(machineName)).toEqual(['unnamed', 'unnamed', 'unnamed']);
  });

  it('keeps every name that has a UTF-8 form', () => {
    for (const name of ['__proto__', 'a"b\\c\nd', 'Gerät-😀', ' ', 'x'.repeat(1_000)])
      expect(machineName(name)).toBe(name);
  });

  it('replaces what no exposition can carry: NUL and lone surrogates', () => {
    expect(machineName('a\0b\ud800c')).toBe('a\ufffdb\ufffdc');
  });

  it('admits everyone, or those included, but never those excluded', () => {
    expect(isIncluded(machinesOptions(), 'a')).toBe(true);
    const options = machinesOptions({ include: ['a', 'b'], exclude: ['b'] });
    expect(['a', 'b', 'c'].map((name) => isIncluded(options, name))).toEqual([true, false, false]);
  });

  describe('chain rules', () => {
    it('gives the default where no rule matches', () => {
      expect(chainOf(machinesOptions({ chain: 'hoodi' }), { name: 'a' })).toBe('hoodi');
    });

    it('takes the first rule that matches the whole name', () => {
      const chainRules = [
        { match: 'hoodi-?', chain: 'hoodi' },
        { match: 'hoodi-*', chain: 'mainnet' },
      ] as const;
      const options = machinesOptions({ chain: 'hoodi', chainRules });
      expect(chainOf(options, { name: 'hoodi-1' })).toBe('hoodi');
      expect(chainOf(options, { name: 'hoodi-12' })).toBe('mainnet');
      expect(chainOf(options, { name: 'my-hoodi-12' })).toBe('hoodi');
    });

    const matches = (match: string, name: string): boolean =>
      chainOf(machinesOptions({ chainRules: [{ match, chain: 'hoodi' }] }), { name }) === 'hoodi';

    it('matches as a regular expression would', () => {
      const letters = fc.string({ unit: fc.constantFrom('a', 'b', '😀'), maxLength: 8 });
      const glob = fc.string({ unit: fc.constantFrom('a', 'b', '😀', '*', '?'), maxLength: 8 });
      fc.assert(
        fc.property(glob, letters, (match, name) => {
          const expression = new RegExp(`^${match.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'su');
          expect(matches(match, name)).toBe(expression.test(name));
        }),
        cases(300),
      );
    });

    it('decides at once for a long name and many stars', () => {
      const name = 'a'.repeat(1_000);
      expect(matches('*a*a*a*a*a*a*a*a*b', name)).toBe(false);
      expect(matches('*a*a*a*a*a*a*a*a*', name)).toBe(true);
    });

    it('takes every character but * and ? for itself', () => {
      const special = '.+^$()|{}[]\\/-a';
      expect(matches(special, special)).toBe(true);
      expect(matches('a.b', 'axb')).toBe(false);
      expect(matches('*', 'two\nlines')).toBe(true);
      expect(matches('a?b', 'a😀b')).toBe(true);
      expect(matches('', 'a')).toBe(false);
    });
  });

  describe('stale_after auto', () => {
    it('is ten minutes at short intervals', () => {
      expect(staleAfter(machinesOptions(), timing())).toBe(10 * MINUTE);
      expect(staleAfter(machinesOptions(), timing({ intervalMs: 210_000 }))).toBe(10 * MINUTE);
    });

    it('follows the effective interval, not the configured one', () => {
      expect(staleAfter(machinesOptions(), timing({ intervalMs: HOUR }))).toBe(2 * HOUR + 3 * MINUTE);
    });

    it('gives way to a configured duration', () => {
      expect(staleAfter(machinesOptions({ staleAfterMs: 1 }), timing({ intervalMs: HOUR }))).toBe(1);
    });
  });

  it('knows when a machine was last seen, by any process', () => {
    expect(lastSeen({ name: 'a' })).toBe(0);
    expect(lastSeen({ name: 'a', system: { timestamp: 3 }, node: { timestamp: 5 } })).toBe(5);
  });

  it('forgets a machine only after forget_after', () => {
    const options = machinesOptions({ forgetAfterMs: DAY });
    expect(isForgotten(options, (NOW - DAY) / 1000, NOW)).toBe(false);
    expect(isForgotten(options, (NOW - DAY - 1) / 1000, NOW)).toBe(true);
  });
});
