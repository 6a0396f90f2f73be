import { describe, expect, it } from 'vitest';
import { emptyLedger } from '../../src/budget/ledger.ts';
import { ownFamilies } from '../../src/exporter/own-families.ts';
import { NOW } from '../support/timing.ts';

describe('exporter/own-families', () => {
  const figures = {
    budgetOptions: { utilization: 0.9 },
    now: NOW,
    lastReload: { isSuccessful: true, successAt: NOW },
    stateWriteFailures: 3,
    drift: [],
    isLeader: true,
  };
  const families = (isShared: boolean, totals = [{ name: 'beaconchain_budget_wait_seconds_total', samples: [] }]) =>
    ownFamilies({ ledger: emptyLedger(), totals }, [], { ...figures, isShared });

  it('among replicas what belongs to one of them comes after what belongs to all', () => {
    const places = (isShared: boolean) => {
      const names = families(isShared).map(({ name }) => name);
      return [
        names.indexOf('beaconchain_api_requests_total'),
        names.indexOf('beaconchain_exporter_state_write_failures_total'),
      ] as const;
    };
    const [requests, failures] = places(true);
    expect(requests).toBeLessThan(failures);
    const [after, before] = places(false);
    expect(before).toBeLessThan(after);
    expect(before).toBeGreaterThan(0);
  });

  it('counts from 0 where nothing was counted, and shows failed writes at once', () => {
    const numberOf = (name: string) => families(true).find((family) => family.name === name)?.samples[0]?.value;
    expect(numberOf('beaconchain_budget_wait_seconds_total')).toBe(0);
    expect(numberOf('beaconchain_exporter_state_write_failures_total')).toBe(3);
    expect(numberOf('beaconchain_budget_allowed_requests_per_day')).toBe(0.9 * 86_400);
  });
});
