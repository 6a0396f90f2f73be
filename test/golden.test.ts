import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ConfigFile } from '../src/sources/registry.ts';
import { type Format, OPENMETRICS_EOF } from '../src/toolkit/exposition/encode.ts';
import type { Family } from '../src/toolkit/exposition/family.ts';
import { type ParsedFamily, type ParsedSample, parseIndependently } from './golden/independent-parser.ts';
import { renderGolden } from './golden/render.ts';
import { ALL_FAMILIES } from './support/contract/metric-contract.ts';
import { encodeFamilies } from './support/exposition/encode.ts';
import { seriesOf } from './support/exposition/exposition-text.ts';
import { areMissing, PROMTOOL, PYTHON_PARSERS, runTool } from './support/tools/tools.ts';

const FILE = join(import.meta.dirname, 'golden/exposition.txt');
const FORMATS = ['text', 'openmetrics'] as const;
const PREFIX = 'beaconchain_';

let exposition: (format: Format) => string;

beforeAll(async () => {
  exposition = await renderGolden();
});

/** The name by which a parser calls a family: it takes the `_total` of a counter away. */
function parsedName(name: string, type: string): string {
  return type === 'counter' ? name.replace(/_total$/, '') : name;
}

function find(families: readonly ParsedFamily[], name: string, type: string): ParsedFamily {
  const family = families.find((one) => one.name === parsedName(PREFIX + name, type));
  if (!family) throw new Error(`no family ${name}`);
  return family;
}

function sorted(series: readonly ParsedSample[]): string[] {
  return series
    .map(({ name, labels, value }) => JSON.stringify([name, Object.entries(labels).sort(), String(value)]))
    .sort();
}

// Types are in the contract, and descriptions in docs/metrics.md.
it('the samples are unchanged (UPDATE_GOLDEN=1 updates them)', () => {
  const now = exposition('text').replace(/^# (HELP|TYPE) .*\n/gm, '');
  if (process.env['UPDATE_GOLDEN']) writeFileSync(FILE, now);
  expect(now).toBe(readFileSync(FILE, 'utf8'));
});

it('an empty `groups` changes no byte', async () => {
  const { groups } = ConfigFile.parse({ groups: {} });
  const withEmpty = await renderGolden(() => groups);
  for (const format of FORMATS) expect(withEmpty(format)).toBe(exposition(format));
});

it('one group of all machines and validators changes nothing but the label of their series', async () => {
  const grouped = await renderGolden(({ validators: { watch } }) => [{ name: 'home', machines: ['*'], watch }]);
  const text = grouped('text');
  expect(text.replaceAll(/,group="home"|group="home",/g, '')).toBe(exposition('text'));
  for (const { name, labels } of seriesOf(text)) {
    if ('machine' in labels || 'validator' in labels) expect(labels['group'], name).toBe('home');
  }
});

it('both formats have the same series', () => {
  expect(sorted(seriesOf(exposition('openmetrics')))).toEqual(sorted(seriesOf(exposition('text'))));
});

it('has exactly the families of the contract, with their types', () => {
  const types = [...exposition('text').matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]);
  expect(types.toSorted()).toEqual(ALL_FAMILIES.map(([name, type]) => [PREFIX + name, type]).toSorted());
});

it.each(ALL_FAMILIES)('%s, a %s, carries the labels %j and no others', (name, type, labels) => {
  const series = seriesOf(exposition('text')).filter((one) =>
    type === 'histogram' ? one.name.startsWith(PREFIX + name) : one.name === PREFIX + name,
  );
  expect(series.length).toBeGreaterThan(0);
  for (const { labels: found } of series) {
    const isOfMachines = name.startsWith('source_') && found['source'] === 'machines';
    const expected = isOfMachines ? labels.filter((label) => label !== 'chain') : labels;
    expect(Object.keys(found).filter((label) => label !== 'le')).toEqual(expected);
  }
});

it('writes each family once and in one piece, and no series twice', () => {
  for (const format of FORMATS) {
    const text = exposition(format);
    const names = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    expect(new Set(names).size).toBe(names.length);
    expect([...text.matchAll(/^# HELP (\S+) /gm)].map(([, name]) => name)).toEqual(names);
    const series = sorted(seriesOf(text));
    expect(new Set(series).size).toBe(series.length);
  }
});

describe.skipIf(areMissing(PROMTOOL))('promtool', () => {
  it('accepts the text format', () => {
    const { status, stdout, stderr } = runTool(PROMTOOL, ['check', 'metrics'], exposition('text'));
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});

describe.skipIf(areMissing(PYTHON_PARSERS))('an independent parser', () => {
  it.each(FORMATS)('reads every series of the %s format unchanged', (format) => {
    const text = exposition(format);
    const parsed = parseIndependently(text, format);
    const series = parsed.flatMap((family) => family.samples);
    expect(sorted(series)).toEqual(sorted(seriesOf(text)));
    expect(series.length).toBeGreaterThan(200);
  });

  it.each(FORMATS)('reads types, units and help of the %s format', (format) => {
    const parsed = parseIndependently(exposition(format), format);
    expect(parsed).toHaveLength(ALL_FAMILIES.length);
    for (const [name, type] of ALL_FAMILIES) {
      const family = find(parsed, name, type);
      expect(family.type, name).toBe(type);
      expect(family.help.length, name).toBeGreaterThan(10);
      const unit = /_(seconds|bytes|ratio|ether|wei)$/.exec(parsedName(name, type))?.[1] ?? '';
      expect(family.unit, name).toBe(format === 'openmetrics' ? unit : '');
    }
  });

  const NAMES = [
    ...['plain', '', ' ', '\\', '\n', '{}'],
    'a,b="c"} 1',
    'Zürich 机器 \u{1f980} \u202e',
    'x'.repeat(1_000),
    '"\\\n'.repeat(333),
    'NUL \0, halves of a pair \ud83c \udfe0',
  ];
  const NUMBERS = [0, NaN, 0.1, -1 / 3, 5e-324, 1.7976931348623157e308, 2 ** 53 + 2, 1e21, 1.5e-7, Infinity, -Infinity];

  // A text that UTF-8 or a reader in C cannot hold has U+FFFD in its place.
  it.each(FORMATS)('reads any name and any number in the %s format', (format) => {
    const samples = NAMES.map((machine, i) => ({ labels: { machine }, value: NUMBERS[i % NUMBERS.length] ?? 0 }));
    const family: Family = { name: 'odd', type: 'gauge', help: 'Odd: " \\ \n 机器.', samples };
    const end = format === 'openmetrics' ? OPENMETRICS_EOF : '';
    const [parsed] = parseIndependently(encodeFamilies([family], format) + end, format);
    expect(parsed?.help).toBe(family.help);
    expect(parsed?.samples).toEqual(
      samples.map(({ labels, value }) => ({
        name: 'odd',
        labels: { machine: labels.machine.toWellFormed().replace('\0', '\ufffd') },
        value,
      })),
    );
  });

  it('refuses OpenMetrics without an end mark', () => {
    expect(() => parseIndependently(exposition('openmetrics').replace('# EOF\n', ''), 'openmetrics')).toThrow('EOF');
  });
});
