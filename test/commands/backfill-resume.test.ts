import { describe, expect, it } from 'vitest';
import { newPlan, type Plan } from '../../src/backfill/plan.ts';
import { backfillOptions } from '../../src/commands/backfill-flags.ts';
import { decidingFlags, resumedOptions } from '../../src/commands/backfill-resume.ts';
import type { Flags } from '../../src/commands/flag-table.ts';
import { BOTH_CHAINS, defaultConfig } from '../support/default-config.ts';
import { NOW } from '../support/timing.ts';

const config = defaultConfig();
const FLAGS: Flags = { source: 'machines', start: '-6h', label: ['job=a', 'instance=b'], output: 'x', yes: true };

function planOf(flags: Flags, chains = ['mainnet']): Plan {
  return newPlan({ flags: { ...decidingFlags(flags) }, chains, covered: {} }, NOW / 1000, []);
}

describe('commands/backfill-resume', () => {
  it('knows the flags of the interrupted run, whatever the time is now', () => {
    const plan = planOf(FLAGS);
    expect(plan.flags).toEqual({ source: 'machines', start: '-6h', label: ['job=a', 'instance=b'] });
    const options = resumedOptions(plan, { resume: true, output: 'x' }, config);
    expect(options).toEqual(backfillOptions(FLAGS, config, NOW));
  });

  it.each([
    { start: '-6h' },
    { start: new Date(NOW - 21_600_000).toISOString() },
    { chain: 'mainnet' },
    { 'max-samples': '5000000' },
    { label: ['job=a', 'instance=b'] },
    { yes: false, output: 'elsewhere' },
  ] satisfies Flags[])('takes %j, which changes nothing', (given) => {
    expect(() => resumedOptions(planOf(FLAGS), given, config)).not.toThrow();
  });

  it.each([
    [{ start: '-7h' }, '--start=-6h, not --start=-7h'],
    [{ label: ['job=c'] }, '--label=job=a --label=instance=b, not --label=job=c'],
    [{ 'full-resolution': true }, 'no --full-resolution'],
    [{ end: '-1h', start: '-7h' }, '--start=-6h, not --start=-7h; no --end'],
  ] satisfies [Flags, string][])('refuses %j, and names both values', (given, message) => {
    expect(() => resumedOptions(planOf(FLAGS), given, config)).toThrow(`--resume: the interrupted run has ${message}`);
  });

  it('refuses another configuration of chains', () => {
    expect(() => resumedOptions(planOf(FLAGS, ['mainnet', 'hoodi']), {}, config)).toThrow(
      'the interrupted run has the chains mainnet and hoodi, the configuration has mainnet',
    );
    expect(() => resumedOptions(planOf(FLAGS), {}, { ...config, ...BOTH_CHAINS })).toThrow('the chains mainnet, the');
  });
});
