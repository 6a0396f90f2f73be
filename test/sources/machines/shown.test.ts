import fc from 'fast-check';
import { describe, it } from 'vitest';
import { machineFamilies } from '../../../src/sources/machines/metrics.ts';
import { Machines } from '../../../src/sources/machines/state.ts';
import { HELD_FOR_MS } from '../../../src/toolkit/lib/held-time.ts';
import { machinesOptions } from '../../support/answers/machine-records.ts';
import { expectFirstChange } from '../../support/exposition/first-change.ts';
import { DAY, HOUR, NOW, timing } from '../../support/time/timing.ts';
import { cases, PATIENT } from '../../support/vitest/fuzz.ts';

/** Ages around the times at which something is withdrawn or forgotten, to the millisecond and between. */
const age = fc.oneof(
  fc.integer({ min: -HOUR, max: 3 * DAY }),
  fc.constantFrom(...[300_000, -600_000, -HOUR, -DAY].flatMap((edge) => [edge - 1, edge, edge + 0.5].map((ms) => -ms))),
);

const record = fc.option(
  age.map((ms) => ({ timestamp: (NOW - ms) / 1000 })),
  { nil: undefined },
);

const name = fc.constantFrom('a', 'b', 'c', 'excluded', '__proto__');
const machine = fc.record({ name, system: record, validator: record, node: record });

const machines = fc
  .uniqueArray(machine, { selector: (one) => one.name, maxLength: 4 })
  .map((list) => Machines.parse({ machines: list, dropped: 0 }));

const options = fc
  .record({
    staleAfterMs: fc.constantFrom('auto' as const, 1, 600_000, HOUR, 2 * DAY),
    expected: fc.subarray(['a', 'x']),
  })
  .map((overrides) => machinesOptions({ forgetAfterMs: DAY, exclude: ['excluded'], ...overrides }));

describe('sources/machines/shown', PATIENT, () => {
  it('says of each sample until when it holds', () => {
    const intervalMs = fc.constantFrom(60_000, HOUR);
    fc.assert(
      fc.property(machines, options, intervalMs, (value, settings, interval) => {
        expectFirstChange((now) =>
          machineFamilies(settings, value, timing({ now, held: now - HELD_FOR_MS, intervalMs: interval })),
        );
      }),
      cases(300),
    );
  });
});
