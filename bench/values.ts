import { Gauge, Registry } from 'prom-client';
import { NodeRecord, SystemRecord, ValidatorRecord } from '../src/api/answers/machines.ts';
import { ENDPOINT_NAMES } from '../src/api/endpoints.ts';
import { OwnMetrics } from '../src/exporter/own-metrics.ts';
import { createFleet } from '../src/sandbox/machines.ts';
import { PROCESSES, recordOf } from '../src/sandbox/machines-records.ts';
import { machineFamilies } from '../src/sources/machines/metrics.ts';
import type { Machines } from '../src/sources/machines/state.ts';
import type { Section } from '../src/toolkit/exposition/exposition.ts';
import { machinesOptions } from '../test/support/answers/machine-records.ts';
import { timing } from '../test/support/time/timing.ts';

const SCHEMAS = { system: SystemRecord, validator: ValidatorRecord, node: NodeRecord } as const;

/** The state of `count` simulated machines half a minute after their push. */
function machinesAt(count: number, now: number): Machines {
  const fleet = createFleet('bench', count);
  const machines = [...fleet.machines.values()].map((machine) => {
    const records = PROCESSES.map((process) => {
      const wire = JSON.parse(JSON.stringify(recordOf({ machine, process, time: now - 30_000 })));
      return [process, SCHEMAS[process].parse(wire)];
    });
    return { name: machine.name, ...Object.fromEntries(records) };
  });
  return { machines, dropped: 0 };
}

/** The sections of /metrics: the machines, and the exporter's own. */
export function sectionsAt(count: number, now: number): Section<undefined>[] {
  const value = machinesAt(count, now);
  const options = machinesOptions();
  const own = new OwnMetrics(true);
  own.expect(ENDPOINT_NAMES, [{ source: 'machines' }]);
  return [
    { name: 'machines', families: () => machineFamilies(options, value, timing({ now })) },
    { name: 'own', families: () => own.families() },
  ];
}

/** The same series in prom-client. It writes each type alike, and only a gauge can be set to what was reported. */
export async function registryOf(sections: readonly Section<undefined>[]): Promise<Registry> {
  const registry = new Registry();
  for (const section of sections) {
    for (const { name, help, samples } of await section.families(undefined)) {
      for (const [suffix, group] of Map.groupBy(samples, (sample) => sample.suffix ?? '')) {
        const labelNames = [...new Set(group.flatMap(({ labels }) => Object.keys(labels)))];
        const gauge = new Gauge({ name: `${name}${suffix}`, help, labelNames, registers: [registry] });
        for (const { labels, value } of group) gauge.set(labels, value);
      }
    }
  }
  return registry;
}
