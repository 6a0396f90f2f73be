import { describe, expect, it } from 'vitest';
import { SystemRecord } from '../../../src/api/answers/machines.ts';
import { chainOf, groupOf, isIncluded, machineName } from '../../../src/sources/machines/options.ts';
import { machinesOptions, systemRecord } from '../../support/answers/machine-records.ts';

it('admits all machines, or those included, but never those excluded', () => {
  expect(isIncluded(machinesOptions(), 'a')).toBe(true);
  const options = machinesOptions({ include: ['a', 'b'], exclude: ['b'] });
  expect(['a', 'b', 'c'].map((name) => isIncluded(options, name))).toEqual([true, false, false]);
});

it('labels a machine by its name, without characters that an exposition cannot carry', () => {
  for (const machine of [' ', 'a"b" \\ \r\n\t', 'Gerät 😀 机器 \u202e', 'x'.repeat(1_000)])
    expect(machineName(SystemRecord.parse(systemRecord({ machine })).machine)).toBe(machine);
  expect(['', null, 'nul\0'].map(machineName)).toEqual(['unnamed', 'unnamed', 'nul\ufffd']);
  expect(SystemRecord.safeParse(systemRecord({ machine: 'lone\ud83d' })).success).toBe(false);
});

describe('chain rules', () => {
  it('takes the first rule that matches the whole name', () => {
    const chainRules = [
      { match: 'hoodi-1', chain: 'hoodi' as const },
      { match: 'hoodi-*', chain: 'mainnet' as const },
    ];
    const options = machinesOptions({ chain: 'hoodi', chainRules });
    expect(chainOf(options, { name: 'hoodi-1' })).toBe('hoodi');
    expect(chainOf(options, { name: 'hoodi-12' })).toBe('mainnet');
    expect(chainOf(options, { name: 'my-hoodi-12' })).toBe('hoodi');
  });

  it('matches the whole name, and only * is a wildcard', () => {
    const matches = (match: string, name: string): boolean =>
      chainOf(machinesOptions({ chainRules: [{ match, chain: 'hoodi' }] }), { name }) === 'hoodi';
    for (const [match, ...names] of [
      ['*', '😀\nb'],
      ['a*c', 'abbc', 'ac'],
      ['a*b*c', 'a--b--c'],
      ['a.c+', 'a.c+'],
    ])
      expect(names.map((name) => matches(`${match}`, name))).not.toContain(false);
    expect([matches('a*c', 'abcd'), matches('a*b*c', 'a--c--b'), matches('a.c+', 'abcc')]).not.toContain(true);
  });
});

it('a machine is in the group that names it, otherwise in the first whose pattern matches', () => {
  const options = machinesOptions({
    groups: [
      { name: 'nodes', machines: ['node-*'] },
      { name: 'home', machines: ['home-*', 'node-a'] },
      { name: 'all', machines: ['*-b'] },
    ],
  });
  const groups = ['node-a', 'node-b', 'home-1', 'x-b', 'my-node-a', 'node-*'].map((name) => groupOf(options, name));
  expect(groups).toEqual(['home', 'nodes', 'home', 'all', undefined, 'nodes']);
  expect(groupOf(machinesOptions(), 'node-a')).toBeUndefined();
});
