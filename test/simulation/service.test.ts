import { describe, expect, test } from 'vitest';
import { Slashings } from '../../src/sources/slashings/schema.ts';
import { countersIn, truthOf } from '../support/chain-truth.ts';
import { configured } from '../support/month.ts';
import { HOUR, NOW } from '../support/timing.ts';
import { Program } from './service/program.ts';
import { calmSetting } from './service/setting.ts';

describe('the program and the service of the simulation', () => {
  test('in calm everything is read, and the counters are those of the chain', async () => {
    const setting = calmSetting({ liveliness: 1, machines: ['m0', 'm1', 'm2'] });
    const program = new Program({ setting, sources: configured(), start: NOW });
    const first = program.service.chain('mainnet', NOW).chain.finalized;
    await program.clock.advance(4 * HOUR);
    program.service.calm(program.clock.now());
    await program.clock.advance(HOUR);
    await program.stop();
    const { requests } = program.service.records;
    expect(requests.filter(({ status, deliveredAt }) => status !== 200 || deliveredAt === undefined)).toEqual([]);
    expect(program.invalid).toEqual({});
    const state = Slashings.parse(program.view('slashings-mainnet').entry.value);
    const { chain } = program.service.chain('mainnet', program.clock.now());
    const read = new Set(program.service.records.slashingsRead('a', 'mainnet').keys());
    const truth = truthOf(chain, first, read);
    expect(countersIn(state)).toEqual(truth.counters);
  });
});
