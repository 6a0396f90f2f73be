import { describe, expect, it } from 'vitest';
import { CONTENT_TYPES, type Format, OPENMETRICS_EOF } from '../../src/metrics/encode.ts';
import type { Family, Sample } from '../../src/metrics/family.ts';
import { encodeFamilies, encodeFamily } from '../support/encode.ts';

const BOTH: Format[] = ['text', 'openmetrics'];

function gauge(samples: readonly Sample[], rest: Partial<Family> = {}): Family {
  return { name: 'a_gauge', type: 'gauge', help: 'Help.', samples, ...rest };
}

/** The lines of samples, without the header. */
function sampleLines(samples: readonly Sample[], format: Format): string[] {
  return encodeFamily(gauge(samples), format)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** The header lines of a family of this name. */
function headerLines(name: string, type: Family['type'], format: Format): string[] {
  const family = gauge([{ labels: {}, value: 1 }], { name, type });
  return encodeFamily(family, format)
    .split('\n')
    .filter((line) => line.startsWith('#'));
}

describe('metrics/encode', () => {
  const counter: Family = {
    name: 'beaconchain_machine_cpu_seconds_total',
    type: 'counter',
    help: 'All modes, "idle" included.\nSee C:\\docs.',
    samples: [
      { labels: { machine: 'node-a', chain: 'mainnet' }, value: 17_280_000 },
      { labels: { machine: 'node-b', chain: 'hoodi' }, value: 0.5, at: 1_790_769_623.25 },
    ],
  };

  it('writes text format 0.0.4: names as they are, milliseconds, no quotes escaped in HELP', () => {
    expect(encodeFamily(counter, 'text')).toBe(
      [
        '# HELP beaconchain_machine_cpu_seconds_total All modes, "idle" included.\\nSee C:\\\\docs.',
        '# TYPE beaconchain_machine_cpu_seconds_total counter',
        'beaconchain_machine_cpu_seconds_total{machine="node-a",chain="mainnet"} 17280000',
        'beaconchain_machine_cpu_seconds_total{machine="node-b",chain="hoodi"} 0.5 1790769623250',
        '',
      ].join('\n'),
    );
  });

  it('writes OpenMetrics 1.0.0: counters without _total in the metadata, units, seconds', () => {
    expect(encodeFamily(counter, 'openmetrics')).toBe(
      [
        '# TYPE beaconchain_machine_cpu_seconds counter',
        '# UNIT beaconchain_machine_cpu_seconds seconds',
        '# HELP beaconchain_machine_cpu_seconds All modes, \\"idle\\" included.\\nSee C:\\\\docs.',
        'beaconchain_machine_cpu_seconds_total{machine="node-a",chain="mainnet"} 17280000',
        'beaconchain_machine_cpu_seconds_total{machine="node-b",chain="hoodi"} 0.5 1790769623.25',
        '',
      ].join('\n'),
    );
  });

  it('writes the parts of a histogram under one header', () => {
    const samples = [
      { suffix: '_bucket', labels: { le: '0.1' }, value: 1 },
      { suffix: '_bucket', labels: { le: '+Inf' }, value: 2 },
      { suffix: '_sum', labels: {}, value: 0.3 },
      { suffix: '_count', labels: {}, value: 2 },
    ];
    const family = gauge(samples, { name: 'a_seconds', type: 'histogram' });
    expect(encodeFamily(family, 'text').split('\n').slice(1)).toEqual([
      '# TYPE a_seconds histogram',
      'a_seconds_bucket{le="0.1"} 1',
      'a_seconds_bucket{le="+Inf"} 2',
      'a_seconds_sum 0.3',
      'a_seconds_count 2',
      '',
    ]);
    expect(headerLines('a_seconds', 'histogram', 'openmetrics')).toContain('# UNIT a_seconds seconds');
  });

  it.each(BOTH)('writes nothing for a family without samples in %s', (format) => {
    expect(encodeFamily(gauge([]), format)).toBe('');
    expect(encodeFamilies([gauge([]), gauge([])], format)).toBe('');
    expect(encodeFamilies([], format)).toBe('');
  });

  it.each(BOTH)('writes families one after the other in %s', (format) => {
    const families = [gauge([{ labels: {}, value: 1 }]), gauge([]), counter];
    expect(encodeFamilies(families, format)).toBe(families.map((family) => encodeFamily(family, format)).join(''));
  });

  it('drops _total from the metadata of counters alone, and only at the end', () => {
    expect(headerLines('a_total', 'counter', 'openmetrics')).toEqual(['# TYPE a counter', '# HELP a Help.']);
    expect(headerLines('a_total', 'gauge', 'openmetrics')).toEqual(['# TYPE a_total gauge', '# HELP a_total Help.']);
    expect(headerLines('a_total_b', 'counter', 'openmetrics')[0]).toBe('# TYPE a_total_b counter');
  });

  it.each(['seconds', 'bytes', 'ratio', 'ether', 'wei'])(
    'gives a UNIT line to names that end in _%s, in OpenMetrics',
    (unit) => {
      for (const name of [`a_${unit}`, `a_b_${unit}`]) {
        expect(headerLines(name, 'gauge', 'openmetrics')[1]).toBe(`# UNIT ${name} ${unit}`);
        expect(headerLines(name, 'gauge', 'text').join()).not.toContain('UNIT');
      }
      expect(headerLines(`a_${unit}_total`, 'counter', 'openmetrics')[1]).toBe(`# UNIT a_${unit} ${unit}`);
      for (const name of [`a_${unit}_b`, `a${unit}`, `a_${unit}_total`]) {
        expect(headerLines(name, 'gauge', 'openmetrics').join()).not.toContain('UNIT');
      }
    },
  );

  it.each(BOTH)('writes every kind of number in %s', (format) => {
    const values = [0, -0, -1.5, 1e21, 5e-324, Number.MAX_SAFE_INTEGER, Number.NaN, Infinity, -Infinity];
    const lines = sampleLines(
      values.map((value) => ({ labels: {}, value })),
      format,
    );
    expect(lines.map((line) => line.replace('a_gauge ', ''))).toEqual([
      '0',
      '0',
      '-1.5',
      '1e+21',
      '5e-324',
      '9007199254740991',
      'NaN',
      '+Inf',
      '-Inf',
    ]);
  });

  it('writes whole milliseconds in text and seconds in OpenMetrics', () => {
    const samples = [{ labels: {}, value: 1, at: 1_790_769_623.0705 }];
    expect(sampleLines(samples, 'text')).toEqual(['a_gauge 1 1790769623071']);
    expect(sampleLines(samples, 'openmetrics')).toEqual(['a_gauge 1 1790769623.0705']);
    expect(sampleLines([{ labels: {}, value: 1, at: 0 }], 'text')).toEqual(['a_gauge 1 0']);
  });

  it.each<[string, string, string]>([
    ['quotes', 'a"b', 'a\\"b'],
    ['backslashes', 'C:\\n', 'C:\\\\n'],
    ['newlines', 'a\nb', 'a\\nb'],
    ['all three', '\\"\n', '\\\\\\"\\n'],
    ['non-ASCII', 'Häuschen 🏠', 'Häuschen 🏠'],
    ['other control characters', '\t\r\u007f', '\t\r\u007f'],
    ['separators', '} 1 #,=', '} 1 #,='],
    ['nothing', '', ''],
    ['1,000 characters', 'ü"'.repeat(500), 'ü\\"'.repeat(500)],
    ['NUL', 'a\0b', 'a\ufffdb'],
    ['lone surrogates', '\ud83c-\udfe0', '\ufffd-\ufffd'],
  ])('writes a label value with %s', (_, value, written) => {
    for (const format of BOTH) {
      expect(sampleLines([{ labels: { machine: value }, value: 1 }], format)).toEqual([
        `a_gauge{machine="${written}"} 1`,
      ]);
    }
  });

  it('names its formats as Prometheus does', () => {
    expect(CONTENT_TYPES).toEqual({
      text: 'text/plain; version=0.0.4; charset=utf-8',
      openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
    });
    expect(OPENMETRICS_EOF).toBe('# EOF\n');
  });
});
