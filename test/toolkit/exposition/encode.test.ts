import { describe, expect, it } from 'vitest';
import type { Family } from '../../../src/toolkit/exposition/family.ts';
import { encodeFamily } from '../../support/exposition/encode.ts';

describe('metrics/encode', () => {
  const counter: Family = {
    name: 'beaconchain_machine_cpu_seconds_total',
    type: 'counter',
    help: 'All modes, "idle" included.\nSee C:\\docs.',
    samples: [
      { labels: { machine: 'node-a', chain: 'mainnet' }, value: 17_280_000 },
      { labels: { machine: 'node-b', chain: 'hoodi' }, value: 0.5 },
    ],
  };

  it('writes text format 0.0.4: names as they are, no quotes escaped in HELP', () => {
    expect(encodeFamily(counter, 'text')).toBe(
      [
        '# HELP beaconchain_machine_cpu_seconds_total All modes, "idle" included.\\nSee C:\\\\docs.',
        '# TYPE beaconchain_machine_cpu_seconds_total counter',
        'beaconchain_machine_cpu_seconds_total{machine="node-a",chain="mainnet"} 17280000',
        'beaconchain_machine_cpu_seconds_total{machine="node-b",chain="hoodi"} 0.5',
        '',
      ].join('\n'),
    );
  });

  it('writes OpenMetrics 1.0.0: counters without _total in the metadata, units, seconds', () => {
    const timed = counter.samples.map((sample) => ({ ...sample, at: 1_790_769_623.25 }));
    expect(encodeFamily({ ...counter, samples: timed }, 'openmetrics')).toBe(
      [
        '# TYPE beaconchain_machine_cpu_seconds counter',
        '# UNIT beaconchain_machine_cpu_seconds seconds',
        '# HELP beaconchain_machine_cpu_seconds All modes, \\"idle\\" included.\\nSee C:\\\\docs.',
        'beaconchain_machine_cpu_seconds_total{machine="node-a",chain="mainnet"} 17280000 1790769623.25',
        'beaconchain_machine_cpu_seconds_total{machine="node-b",chain="hoodi"} 0.5 1790769623.25',
        '',
      ].join('\n'),
    );
  });
});
