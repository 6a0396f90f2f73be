import { describe, expect, it } from 'vitest';
import { type BudgetOptions, EMPTY_BUCKET } from '../../src/budget/bucket.ts';
import { emptyLedger } from '../../src/budget/ledger.ts';
import type { LongWindow } from '../../src/budget/long-window.ts';
import { type CheckInput, describeCosts, stretchWarnings } from '../../src/commands/check.ts';
import type { Config } from '../../src/config/config.ts';
import { planOf } from '../../src/exporter/sources.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { DAY, HOUR } from '../support/time/timing.ts';

const NOW = Date.UTC(2026, 9, 1);

interface Overrides extends Partial<CheckInput['state']> {
  readonly config?: Config;
  readonly budgetOptions?: BudgetOptions;
  readonly now?: number;
}

function input({
  config = defaultConfig(),
  budgetOptions = { utilization: 0.9 },
  now = NOW,
  ...known
}: Overrides = {}): CheckInput {
  return {
    state: { ledger: emptyLedger(), entries: new Map(), ...known },
    plan: { ...planOf(config), budgetOptions },
    config,
    limitsFrom: 'made up',
    now,
  };
}

describe('commands/check-costs', () => {
  it('prints what each source costs where everything fits', () => {
    expect(describeCosts(input())).toBe(
      [
        'Limits: made up.',
        '  90 % for this exporter: 77760 requests a day.',
        '',
        'source          chain    configured  requests/day  effective  requests/day  stretch',
        'daily_returns   mainnet  1h          1.0           1h         1.0           x1',
        'sync_committee  mainnet  1h          0.9           1h         0.9           x1',
        'machines                 1m          1440          1m         1440          x1',
        'slashings       mainnet  1m5s        1779          1m5s       1779          x1',
        '',
        'Total: 3221 requests a day as configured, 3221 within the limits.',
        'A sweep of the machines is assumed to take one request, which is enough for up to 8 machines.',
        '',
      ].join('\n'),
    );
  });

  it('prices the parts of the validators, at the interval that the plan allows', () => {
    const defaults = defaultConfig();
    const priced = (overrides: Partial<Config['validators']>, budgetOptions?: BudgetOptions): string => {
      const validators = { ...defaults.validators, ...overrides };
      return describeCosts(input({ config: { ...defaults, validators }, ...(budgetOptions && { budgetOptions }) }));
    };
    const watch = { mainnet: [{ first: 1, last: 101 }], hoodi: [] };
    const parts = (text: string): string | undefined => /^Requests a day for .*$/m.exec(text)?.[0];
    expect(parts(priced({}))).toBeUndefined();
    // 225 epochs a day: 11 requests in each, and 2 for each aggregate with every ninth.
    expect(parts(priced({ watch }))).toBe(
      'Requests a day for the validators of mainnet: status 2475, duties and score 50, rewards 50, sync committees 0.9, proposer slashings one for each.',
    );
    expect(priced({ watch })).toMatch(/^validators +mainnet +6m24s +2575 +6m24s +2575 +x1$/m);
    expect(parts(priced({ watch, rewards: false }))).toContain('duties and score 50, sync');
    expect(parts(priced({ watch, status: false, proposerSlashings: false }))).toBe(
      'Requests a day for the validators of mainnet: sync committees 0.9.',
    );
    expect(priced({ watch })).toMatch(/^network +mainnet +1h +48 +1h +48 +x1$/m);
    const onTrial = priced({ watch }, { utilization: 0.9, perMonth: 1_000 });
    expect(onTrial).toMatch(/^network +mainnet +1h +48 +1d +1\.0 +x24\.0 +without the queues$/m);
    const trial = parts(onTrial) ?? '';
    const [, status] = /status ([\d.]+),/.exec(trial) ?? [];
    expect(Number(status)).toBeLessThan(10);
  });

  it('prints how a quota stretches them', () => {
    const text = describeCosts(input({ budgetOptions: { utilization: 0.9, perMonth: 1_000 }, ledger: quota() }));
    expect(text).toContain('1 per second, 1000 per month (1000 left); 90 % for this exporter: 29 requests a day.');
    expect(text).toMatch(/^machines +1m +1440 +2h\d+m\d+s +10\.\d|^machines +1m +1440 +2h\d+m\d+s +11/m);
    expect(text).toMatch(/^slashings .* x8\d\.\d +newest finalized epoch only, the others are skipped$/m);
  });

  it('prints which sources wait for a quota that is used up, at the pace that they had', () => {
    const attempts = { failuresInARow: 0, durationMs: 1, lastAttemptAt: NOW + DAY };
    const entry = { ...attempts, value: {}, intervalMs: 2 * HOUR, coverage: 'full' } as const;
    const text = describeCosts(
      input({
        budgetOptions: { utilization: 0.9, perMonth: 1_000 },
        ledger: quota({ remaining: 0, own: 500 }),
        entries: new Map([['machines', entry]]),
        now: NOW + 2 * DAY,
      }),
    );
    expect(text).toMatch(/^machines +1m +1440 +2h +0\.0 +x120\.0 +waits for the quota until 2026-11-01 00:00:00 UTC$/m);
    expect(text).toMatch(/^slashings +mainnet .* waits for the quota until 2026-11-01 00:00:00 UTC$/m);
  });

  it('warns of a list of validators that the limits poll too rarely', () => {
    const defaults = defaultConfig();
    const warnings = (last: number, budgetOptions?: BudgetOptions): string[] => {
      const watch = { mainnet: [{ first: 1, last }], hoodi: [] };
      const config = { ...defaults, validators: { ...defaults.validators, watch } };
      return stretchWarnings(input({ config, ...(budgetOptions && { budgetOptions }) }));
    };
    const trial = { utilization: 0.9, perMonth: 1_000 };
    expect(warnings(10_000, trial)).toEqual([
      'Warning: The limits allow a poll of the validators of mainnet every 31d: alerts on them come too late. Name fewer in validators.watch, or choose a larger plan.',
    ]);
    expect(warnings(4, trial)).toEqual([]);
    expect(warnings(10_000)).toEqual([]);
  });

  it('says nothing about what is off: sweeps, or proposer slashings, which come with slashings', () => {
    const defaults = defaultConfig();
    const validators = { ...defaults.validators, watch: { mainnet: [{ first: 1, last: 1 }], hoodi: [] } };
    const [machines, slashings] = [defaults.machines, defaults.slashings].map((one) => ({ ...one, enabled: false }));
    const text = describeCosts(input({ config: { ...defaults, validators, machines, slashings } as Config }));
    expect(text).not.toMatch(/A sweep|proposer/);
  });

  it('uses the observed cost of a sweep', () => {
    const entry = { value: {}, failuresInARow: 0, durationMs: 1, costs: [7, 7, 6] };
    const text = describeCosts(input({ entries: new Map([['machines', entry]]) }));
    expect(text).toMatch(/^machines +1m +10080 +1m +10080 +x1$/m);
    expect(text).not.toContain('assumed');
  });
});

function quota(month?: Omit<LongWindow, 'limit' | 'since'>) {
  const bucket = { ...EMPTY_BUCKET, limits: { second: 1, month: 1_000 }, remaining: { month: 1_000 } };
  const known = month ? { ...bucket, month: { ...month, limit: 1_000, since: NOW } } : bucket;
  return { ...emptyLedger(), buckets: { '': known } };
}
