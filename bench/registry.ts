import { Gauge, Registry } from 'prom-client';
import type { Part } from '../src/metrics/exposition.ts';

/** The same series in prom-client. It writes each type alike, and only a gauge can be set to what was reported. */
export async function registryOf(parts: readonly Part[]): Promise<Registry> {
  const registry = new Registry();
  for (const part of parts) {
    for (const { name, help, samples } of await part.families()) {
      for (const [suffix, group] of Map.groupBy(samples, (sample) => sample.suffix ?? '')) {
        const labelNames = [...new Set(group.flatMap(({ labels }) => Object.keys(labels)))];
        const gauge = new Gauge({ name: `${name}${suffix}`, help, labelNames, registers: [registry] });
        for (const { labels, value } of group) gauge.set(labels, value);
      }
    }
  }
  return registry;
}
