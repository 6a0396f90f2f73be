import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { machinesSource } from '../../src/sources/machines/index.ts';
import type { Machines } from '../../src/sources/machines/schema.ts';
import { lastSeen } from '../../src/sources/machines/schema.ts';
import { cases, PATIENT } from '../support/fuzz.ts';
import {
  machinesOptions,
  machinesPage,
  nodeRecord,
  systemRecord,
  validatorRecord,
} from '../support/machine-records.ts';
import { sampleValue } from '../support/samples.ts';
import { DAY, NOW } from '../support/timing.ts';
import { pollThrough, trouble } from './poll.ts';

const SOURCE = machinesSource(machinesOptions({ expected: ['never'] }), () => undefined);

const service = (now: number) => () => {
  const timestamp = now - 20_000;
  const system = [systemRecord({ timestamp, cpu_cores: 7 }), systemRecord({ timestamp, machine: 'node-b' })];
  return machinesPage({ system, validator: [validatorRecord({ timestamp })], node: [nodeRecord({ timestamp })] });
};

function seen({ machines }: Machines): Map<string, number> {
  return new Map(machines.map((machine) => [machine.name, lastSeen(machine)]));
}

describe('fuzz machines', PATIENT, () => {
  it('forgets no machine and shows nothing odd, whatever is answered, and recovers with the next good answer', async () => {
    await fc.assert(
      fc.asyncProperty(trouble, async (faults) => {
        const { families } = await pollThrough(SOURCE, service, faults, 1, (before, after) => {
          const now = seen(after.value);
          for (const [name, at] of seen(before.value)) {
            // An odd record can be years old: such a machine is forgotten, as it is to be.
            if (NOW - at * 1000 < 30 * DAY) expect(now.get(name)).toBeGreaterThanOrEqual(at);
          }
        });
        expect(sampleValue(families, 'beaconchain_machine_cpu_cores', { machine: 'node-a' })).toBe(7);
        expect(sampleValue(families, 'beaconchain_machine_peers', { machine: 'node-a' })).toBe(97);
      }),
      cases(80),
    );
  });
});
