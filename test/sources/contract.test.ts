import { describe, expect, it } from 'vitest';
import { dailyReturnsSource } from '../../src/sources/daily-returns/index.ts';
import { machinesSource } from '../../src/sources/machines/index.ts';
import { networkSource } from '../../src/sources/network/index.ts';
import type { Source } from '../../src/sources/source.ts';
import { syncCommitteeSource } from '../../src/sources/sync-committee/index.ts';
import { validatorsSource } from '../../src/sources/validators/index.ts';
import { Follower } from '../support/follower.ts';
import { machinesOptions } from '../support/machine-records.ts';
import {
  DAILY_RETURNS,
  MACHINES,
  NETWORK,
  SLASHINGS,
  SYNC_COMMITTEE,
  VALIDATORS,
  WATCHED,
} from '../support/metric-contract.ts';
import { HOUR, timing } from '../support/timing.ts';
import { validatorsOptions } from '../support/validators.ts';

const machines = machinesSource(machinesOptions({ expected: ['never'] }));
const dailyReturns = dailyReturnsSource('mainnet', HOUR);
const syncCommittee = syncCommitteeSource('mainnet', HOUR);
const validatorsSettings = validatorsOptions({ syncCommittee: true });
const validators = validatorsSource(validatorsSettings);
const network = networkSource({ chain: 'mainnet', intervalMs: HOUR, weight: 0.1 });
/** Seats are counted, and validator 7 is watched. */
const watching = (): Follower => new Follower({ watch: [{ first: 7, last: 7 }], seatsOf: () => [7] });

describe('sources contract', () => {
  it.each([
    ['machines', machines.families(machines.empty, timing()), MACHINES],
    ['daily_returns', dailyReturns.families(dailyReturns.empty, timing()), DAILY_RETURNS],
    ['slashings', new Follower().families(), SLASHINGS],
    ['slashings with watched validators', watching().families(), [...SLASHINGS, ...WATCHED]],
    ['validators', validators.families(validators.empty, timing()), VALIDATORS],
    ['network', network.families(network.empty, timing()), NETWORK],
    ['sync_committee', syncCommittee.families(syncCommittee.empty, timing()), SYNC_COMMITTEE],
  ])('names every family of %s, also without data', (_, families, contract) => {
    expect(families.map(({ name }) => name).sort()).toEqual(contract.map(([name]) => `beaconchain_${name}`).sort());
  });

  it.each([
    ['machines', machines],
    ['daily_returns', dailyReturns],
    ['slashings', new Follower().source],
    ['validators', validators],
    ['network', network],
    ['sync_committee', syncCommittee],
  ])('%s reads its empty state back', (name, source) => {
    expect(source.name).toBe(name);
    expect(source.state.parse(JSON.parse(JSON.stringify(source.empty)))).toEqual(source.empty);
  });

  it('ends the names of counters, and of no others, in _total, and describes each family', () => {
    const sources = [machines, dailyReturns, syncCommittee, validators, network] as Source<unknown>[];
    const families = [...sources.flatMap((one) => one.families(one.empty, timing())), ...watching().families()];
    for (const { name, type, help } of families) {
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(help, name).toMatch(/^[A-Z].{20,}\.$/);
    }
  });
});
