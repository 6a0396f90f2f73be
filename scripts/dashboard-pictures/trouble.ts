import type { AccountPlan } from '../../src/sandbox/plan.ts';
import type { Sandbox } from '../../src/sandbox/world.ts';
import { HOUR, MINUTE } from '../../test/support/timing.ts';

/** What happens in the simulated day, by ms before its end. */
export type Events = readonly { readonly before: number; readonly happen: (sandbox: Sandbox, now: number) => void }[];

/** A simulated day. */
export interface Day {
  readonly plan: AccountPlan;
  /** Machines that the configuration names. */
  readonly expected: readonly string[];
  readonly events: Events;
}

function fails(before: number, minutes: number): Events {
  const set = (isOut: boolean) => (sandbox: Sandbox) => {
    sandbox.outage = isOut;
  };
  return [
    { before, happen: set(true) },
    { before: before - minutes * MINUTE, happen: set(false) },
  ];
}

export const DAYS = {
  calm: { plan: 'scale', expected: ['node-a', 'node-b'], events: [] },
  trouble: {
    plan: { perSecond: 5, perMonth: 200_000 },
    expected: ['node-a', 'node-b', 'backup-1'],
    events: [
      ...fails(16 * HOUR, 4),
      { before: 9 * HOUR, happen: (sandbox, now) => sandbox.spend(60_000, now) },
      { before: 5 * HOUR, happen: (sandbox, now) => sandbox.missProposal('mainnet', 12_345, now) },
      { before: 4 * HOUR, happen: (sandbox, now) => sandbox.fillDisk('node-b', 0.05, now) },
      { before: 3 * HOUR, happen: (sandbox, now) => sandbox.slash('mainnet', [12_342], now) },
      ...fails(2.5 * HOUR, 12),
      { before: 1.5 * HOUR, happen: (sandbox, now) => sandbox.silence('quiet-1', now) },
    ],
  },
} as const satisfies Record<string, Day>;

export type State = keyof typeof DAYS;
