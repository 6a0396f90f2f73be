import { expect, it } from 'vitest';
import { type BudgetOptions, EMPTY_BUCKET } from '../../src/budget/bucket.ts';
import { emptyLedger } from '../../src/budget/ledger.ts';
import type { LongWindow } from '../../src/budget/long-window.ts';
import { type CheckInput, describeCosts } from '../../src/commands/check.ts';
import { setupOf } from '../../src/exporter/setup.ts';
import type { Entry } from '../../src/scheduler/entry.ts';
import type { Config } from '../../src/sources/registry.ts';
import { told } from '../budget/told.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { DAY, HOUR, MINUTE } from '../support/time/timing.ts';

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
    setup: { ...setupOf(config), budgetOptions },
    limitsFrom: 'made up',
    now,
  };
}

it('prints what each source costs if everything fits', () => {
  expect(describeCosts(input())).toBe(
    [
      'Limits: made up.',
      '  90 % for this exporter: 77760 requests a day.',
      '',
      'source          chain    configured  requests/day  effective  requests/day  stretch',
      'daily_returns   mainnet  1h          1.0           1h         1.0           x1',
      'sync_committee  mainnet  1h          0.9           1h         0.9           x1',
      'machines                 1m          1444          1m         1444          x1',
      'slashings       mainnet  1m5s        1779          1m5s       1779          x1',
      '',
      'Total: 3225 requests a day as configured, 3225 within the limits.',
      'A sweep of the machines is assumed to take a request for each 8 of machines.expected, at least one.',
      'Requests a day for the machines: sweep 1440, names 4.0.',
      'Requests a day for the slashings of mainnet: head 1554, finalized 225.',
      '',
      'How late an alert can be, if no request fails:',
      'a machine is silent      13m',
      'a disk is almost full    9m',
      '',
    ].join('\n'),
  );
});

it('prices the reads of the validators, at the interval that the plan allows', () => {
  const defaults = defaultConfig();
  const priced = (overrides: Partial<Config['validators']>, budgetOptions?: BudgetOptions): string => {
    const validators = { ...defaults.validators, ...overrides };
    return describeCosts(input({ config: { ...defaults, validators }, ...(budgetOptions && { budgetOptions }) }));
  };
  const watch = { mainnet: [{ first: 1, last: 101 }], hoodi: [] };
  const reads = (text: string): string | undefined => /^Requests a day for the validators of .*$/m.exec(text)?.[0];
  expect(reads(priced({}))).toBeUndefined();
  // 225 epochs a day: 11 requests in each, and 2 for each aggregate with every ninth.
  expect(reads(priced({ watch }))).toBe(
    'Requests a day for the validators of mainnet: status 2475, duties 50, rewards 50, members 0.9.',
  );
  expect(priced({ watch })).toMatch(/^validators +mainnet +6m24s +2576 +6m24s +2576 +x1$/m);
  expect(reads(priced({ watch, rewards: false }))).toContain('duties 50, members');
  // The table prices a source that has a single read.
  const onlyMembers = priced({ watch, status: false });
  expect(reads(onlyMembers)).toBeUndefined();
  expect(onlyMembers).toMatch(/^validators +mainnet +1h +0\.9 +1h +0\.9 +x1$/m);
  expect(priced({ watch })).toMatch(/^network +mainnet +1h +48 +1h +48 +x1$/m);
  const onTrial = priced({ watch }, { utilization: 0.9, perMonth: 1_000 });
  expect(onTrial).toMatch(/^network +mainnet +1h +48 +1d +1\.0 +x24\.0 +without the queues$/m);
  const [, status] = /status ([\d.]+),/.exec(reads(onTrial) ?? '') ?? [];
  expect(Number(status)).toBeLessThan(12);
});

it('prices both parts of the epochs, and says why each is on or off', () => {
  const defaults = defaultConfig();
  const parts = (
    last: number,
    epochs: boolean | 'auto',
    given: Partial<CheckInput> = {},
    more: Partial<Config['validators']> = {},
  ): (string | undefined)[] => {
    const watch = { mainnet: [{ first: 1, last }], hoodi: [] };
    const config = { ...defaults, validators: { ...defaults.validators, watch, epochs, ...more } };
    const text = describeCosts(input({ config, ...given } as never));
    return ['duties', 'rewards'].map((part) => new RegExp(`^epoch ${part} of mainnet: (.*)$`, 'm').exec(text)?.[1]);
  };
  const off = '225 requests a day, off until the service has named the limits.';
  expect(parts(10, 'auto')).toEqual([off, off]);
  const named = {
    ledger: told(emptyLedger(), 'any', { headers: { 'x-ratelimit-limit-second': '1' }, at: NOW }),
  } as never;
  expect(parts(10, 'auto', named)).toEqual(['225 requests a day, on.', '225 requests a day, on.']);
  expect(parts(600, 'auto', named)).toEqual([
    '13500 requests a day, on.',
    '13500 requests a day, off: takes more than 25 % of the limits.',
  ]);
  expect(parts(3_000, true, named)).toEqual([
    expect.stringMatching(/^67500 requests a day, on, but cannot keep up: the other reads leave \d+\.$/),
    expect.stringMatching(/the other reads leave 9\.7\.$/),
  ]);
  const month = '225 requests a day, off: the plan has a monthly quota.';
  expect(parts(10, 'auto', { budgetOptions: { utilization: 0.9, perMonth: 1_000 } } as never)).toEqual([month, month]);
  expect(parts(10, false)).toEqual([undefined, undefined]);
  // Any answer names the limits, so the parts are on even if they are the only reads of the validators.
  expect(parts(10, 'auto', {}, { status: false, syncCommittee: false })).toEqual([off, off]);
  const alone = parts(10, 'auto', named, { status: false, syncCommittee: false });
  expect(alone).toEqual(['225 requests a day, on.', '225 requests a day, on.']);
});

it('prints how a quota stretches the intervals', () => {
  const text = describeCosts(input({ budgetOptions: { utilization: 0.9, perMonth: 1_000 }, ledger: quota() }));
  expect(text).toContain('1 per second, 1000 per month (1000 left); 90 % for this exporter: 29 requests a day.');
  expect(text).toMatch(/^machines +1m +1444 +1h\dm\d+s +24 +x6\d\.\d$/m);
  expect(text).toMatch(/^slashings .* x3\d\d\.\d +newest finalized epoch only, the others are skipped$/m);
});

it('prints which sources wait for the quota, with the interval that they had before', () => {
  const sweep = { failuresInARow: 0, durationMs: 1, lastAttemptAt: NOW + DAY, intervalMs: 2 * HOUR };
  const text = describeCosts(
    input({
      budgetOptions: { utilization: 0.9, perMonth: 1_000 },
      ledger: quota({ remaining: 0, own: 500 }),
      entries: new Map([['machines', machinesWith({ sweep })]]),
      now: NOW + 2 * DAY,
    }),
  );
  expect(text).toMatch(/^machines +1m +1444 +2h +0\.0 +x120\.0 +waits for the quota until 2026-11-01 00:02:00 UTC$/m);
  expect(text).toMatch(/^slashings +mainnet .* waits for the quota until 2026-11-01 00:02:00 UTC$/m);
});

it('says how late each alert can be, and which one comes too late', () => {
  const defaults = defaultConfig();
  const late = (last: number, perMonth?: number, validators: Partial<Config['validators']> = {}): string[] => {
    const watched = { ...defaults.validators, watch: { mainnet: [{ first: 1, last }], hoodi: [] }, ...validators };
    const machines = { ...defaults.machines, ...(last === 2 && { staleAfterMs: 5 * MINUTE, forgetAfterMs: HOUR }) };
    const config = { ...defaults, machines, validators: watched };
    const now = NOW + (last === 10_000 ? HOUR : 0);
    const text = describeCosts(input({ config, now, budgetOptions: { utilization: 0.9, perMonth } }));
    return [...text.matchAll(/^a .* {2}(\S.*)$/gm)].map(([, one = '']) => one);
  };
  // As docs/validators.md says.
  expect(late(1)).toEqual(['13m', '9m', '34m', '3m', '15m', '23m']);
  const byChance = 'by chance: epochs are skipped';
  expect(late(1, 1_000)).toEqual(['4h37m', '2h27m', '5h33m', '2h44m', '2h44m', byChance]);
  expect(late(10_000, 1_000).slice(2, 4)).toEqual(['too late: 62d1h', 'too late: 31d1h']);
  expect(late(1, 20_000, { status: false }).slice(2)).toEqual(['26m', '26m', '26m']);
  expect(late(1, undefined, { proposerSlashings: false, status: false })[3]).toBe('never');
  const withdrawn = 'in part: machines.stale_after withdraws values between polls';
  expect(late(2, 1_000).slice(0, 2)).toEqual(['never: machines.forget_after', withdrawn]);
});

it('prices a sweep by the expected machines, until its cost was observed', () => {
  const defaults = defaultConfig();
  const expected = Array.from({ length: 200 }, (_, i) => `node-${i}`);
  const config = { ...defaults, machines: { ...defaults.machines, expected } };
  expect(describeCosts(input({ config }))).toContain('the machines: sweep 36000, names');
  const sweep = { failuresInARow: 0, durationMs: 1, costs: [7, 7, 6] };
  const text = describeCosts(input({ config, entries: new Map([['machines', machinesWith({ sweep })]]) }));
  expect(text).toContain('the machines: sweep 10080, names');
  expect(text).not.toContain('assumed');
});

function machinesWith(reads: Entry['reads']): Entry {
  return { value: { machines: [], dropped: 0 }, reads, refusals: {}, leftOut: [] };
}

function quota(month?: Omit<LongWindow, 'limit' | 'since'>) {
  const bucket = { ...EMPTY_BUCKET, limits: { second: 1, month: 1_000 }, remaining: { month: 1_000 } };
  const known = month ? { ...bucket, month: { ...month, limit: 1_000, since: NOW } } : bucket;
  return { ...emptyLedger(), buckets: { '': known } };
}
