import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { daily } from '../../../deploy/grafana/src/queries.ts';
import { temporaryFolder } from '../../support/files.ts';
import { interpolate, type PanelQuery, QUERIES, regexFormat } from '../../support/grafana.ts';
import { portOf, startExporter, waitFor } from '../../support/program.ts';
import { type Prometheus, startPrometheus } from '../../support/prometheus.ts';
import { areMissing, PROMETHEUS, PROMTOOL } from '../../support/tools.ts';
import { history } from './history.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../../docs/dashboards.md'), 'utf8');
const DAY = 86_400;
/** The demo's own, but for polls so frequent that a few seconds show how requests go. */
const CONFIG = `
chains: {mainnet: {}, hoodi: {}}
machines: {interval: 2s, chain: mainnet, chain_rules: [{match: "hoodi-*", chain: hoodi}]}
validators: {watch: {mainnet: ["12340-12349"], hoodi: ["500-504"]}}
`;

/** All that Grafana can be given to choose from, but for a backtick. */
const ODD_NAMES = [
  'rack "7"',
  'C:\\nodes\\1',
  'two\nlines',
  'Zürich 机器 \u{1f980}',
  'node.example.com',
  'nodeXexample.com',
  'a|b',
  '(a+b)*[c]{2}^$?',
  "it's / her's",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a name.
  '$machine ${chain:regex}',
];
const PEERS = QUERIES.find(({ name }) => name === 'Staking machine, Peers, peers')?.expr ?? '';

/** The panels that the document says are empty, by dashboard and panel. */
function documentedAsEmpty(): string[] {
  const table = DOCUMENT.split('## Empty on healthy data')[1]?.split('\n## ')[0] ?? '';
  return [...table.matchAll(/^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$/gm)]
    .map(([, dashboard, panel]) => `${dashboard}, ${panel}`)
    .filter((row) => !row.startsWith('Dashboard,') && !row.startsWith('---'));
}

async function valuesOf(prometheus: Prometheus, { expr, instant }: PanelQuery, now: number): Promise<number[]> {
  const query = interpolate(expr);
  if (instant) return (await prometheus.query(query)).map(({ value }) => Number(value[1]));
  const ranges = await prometheus.range(query, { from: now - 2 * 3600, to: now, step: 120 });
  return ranges.flatMap(({ values }) => values.map(([, value]) => Number(value)));
}

describe.skipIf(areMissing(PROMETHEUS, PROMTOOL))('system/end-to-end/dashboards', () => {
  it('on a real Prometheus that scrapes the demo every query has data, but those that the document names', async () => {
    const config = join(temporaryFolder(), 'config.yaml');
    writeFileSync(config, CONFIG);
    const demo = startExporter(['demo', `--config.file=${config}`, '--web.listen-address=127.0.0.1:0']);
    const port = await portOf(demo);
    const odd = ODD_NAMES.map((machine) => ({ labels: { job: 'odd', chain: 'mainnet', machine }, value: 5 }));
    const end = Date.now();
    const past = await history({
      end,
      hours: 3,
      days: 4,
      labels: { job: 'demo', instance: `127.0.0.1:${port}` },
      more: [{ name: 'beaconchain_machine_peers', type: 'gauge', help: 'Peers.', samples: odd }],
    });
    const prometheus = await startPrometheus({ demo: port }, { history: past });
    // Rates need two scrapes, and the first comes five seconds after the start.
    const requested = 'increase(beaconchain_api_requests_total{endpoint="machine_metrics"}[1m]) > 1';
    await waitFor(async () => expect(await prometheus.query(requested)).toHaveLength(1));
    const validators = 'beaconchain_source_up{source="validators"} == 1';
    await waitFor(async () => expect(await prometheus.query(validators)).toHaveLength(2));

    // In whole seconds, and not before the last scrape.
    const now = Math.ceil(Date.now() / 1000);
    const broken: string[] = [];
    const samples = new Map<string, number>();
    for (const query of QUERIES) {
      const values = await valuesOf(prometheus, query, now);
      if (values.some((value) => !Number.isFinite(value))) broken.push(query.name);
      samples.set(query.name, (samples.get(query.name) ?? 0) + values.length);
    }
    expect(broken, 'not a number, which Grafana cannot draw').toEqual([]);
    const empty = QUERIES.filter(({ name }) => samples.get(name) === 0).map((one) => `${one.dashboard}, ${one.panel}`);
    expect([...new Set(empty)].sort()).toEqual(documentedAsEmpty().sort());

    await expectOneLine(prometheus, now);
    await expectOddNames(prometheus);
  });
});

/** Four days that a backfill wrote, three hours of scrapes of a process that is gone, and the present. */
async function expectOneLine(prometheus: Prometheus, now: number): Promise<void> {
  const span = { from: now - 3 * DAY, to: now, step: 3600 };
  const lines = await prometheus.range(interpolate(daily('combined_apr_ratio')), span);
  expect(lines.map(({ metric }) => metric).toSorted((a, b) => `${a['chain']}`.localeCompare(`${b['chain']}`))).toEqual([
    { chain: 'hoodi' },
    { chain: 'mainnet' },
  ]);
  for (const { values } of lines) expect(values).toHaveLength(3 * 24 + 1);
}

async function expectOddNames(prometheus: Prometheus): Promise<void> {
  const shown = async (machine?: string | string[]): Promise<(string | undefined)[]> => {
    const query = interpolate(`last_over_time(${selectorOf(PEERS)}[10m])`, machine === undefined ? {} : { machine });
    return (await prometheus.query(query)).map(({ metric }) => metric['machine']).toSorted();
  };
  for (const name of ODD_NAMES) expect(await shown(name), name).toEqual([name]);
  expect(await shown(ODD_NAMES)).toEqual(ODD_NAMES.toSorted());
  expect(await shown()).toEqual(expect.arrayContaining(ODD_NAMES));
  // Why the queries are not written with double quotes.
  const quoted = `beaconchain_machine_peers{machine=~"${regexFormat('node.example.com')}"}`;
  await expect(prometheus.query(quoted)).rejects.toThrow('unknown escape sequence');
}

/** The innermost selector, which is what the choice goes into. */
function selectorOf(expr: string): string {
  const [selector] = /beaconchain_\w+\{.*\}/.exec(expr) ?? [];
  if (selector === undefined) throw new TypeError(`no selector: ${expr}`);
  return selector;
}
