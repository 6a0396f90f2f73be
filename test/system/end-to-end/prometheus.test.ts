import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { daily } from '../../../deploy/grafana/src/queries.ts';
import { machinesPage, nodeRecord, systemRecord } from '../../support/answers/machine-records.ts';
import { DOCUMENT_QUERIES } from '../../support/contract/document-queries.ts';
import { interpolate, type PanelQuery, QUERIES, regexFormat } from '../../support/contract/grafana.ts';
import { SOURCES } from '../../support/exposition/scraped-metrics.ts';
import type { Respond } from '../../support/faults/fault-server.ts';
import { startService } from '../../support/faults/service.ts';
import { configFile, temporaryFolder } from '../../support/files/files.ts';
import { ask } from '../../support/network/ask.ts';
import { type Certificate, makeCertificate } from '../../support/network/certificates.ts';
import { ANY_PORT, asking, portOf, startExporter, startServe, waitFor } from '../../support/programs/program.ts';
import { type Prometheus, startPrometheus } from '../../support/tools/prometheus.ts';
import { areMissing, OPENSSL, PROMETHEUS, PROMTOOL, runTool } from '../../support/tools/tools.ts';
import { basic, hashOf, tlsSection } from '../../support/web/web-config.ts';
import { history } from './history.ts';

const DAY = 86_400;
/** As in the demo, with more frequent polls, so that a few seconds show rates of requests. */
const CONFIG = `
chains: {mainnet: {}, hoodi: {}}
machines: {interval: 2s, chain: mainnet, chain_rules: [{match: "hoodi-*", chain: hoodi}]}
validators: {watch: {mainnet: ["12340-12349"], hoodi: ["500-504"]}}
`;

const ODD_NAMES = [
  'rack "7"',
  'C:\\nodes\\1',
  'two\nlines',
  'Zürich 机器 \u{1f980}',
  '{x="y"} # EOF',
  'x'.repeat(1_000),
  'node.example.com',
  'nodeXexample.com',
  'a|b',
  '(a+b)*[c]{2}^$?',
  "it's / her's",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a name.
  '$machine ${chain:regex}',
];
/** Panels and marks that are empty on healthy data, and where the plan has no quota of a month or an hour. */
const EMPTY = [
  'Staking fleet, Firing alerts',
  'Staking machine, Firing alerts',
  'Exporter and budget, Firing alerts',
  'Exporter and budget, Failed requests',
  'Exporter and budget, Quota left',
  'Exporter and budget, Use of the monthly quota',
  // Its column "waits for the quota".
  'Exporter and budget, Sources',
  "Validators' health, Watched validators that were slashed",
  "Validators' health, Validators that missed a proposal",
  "Validators' health, Watched validators that are offline",
  "Validators' health, Leaving validators",
  "Validators' health, Missed attestations by epoch",
  "Validators' health, Blocks that paid an unexpected address",
  "Validators' health, Validators that missed attestations",
  "Validators' health, marks: Watched validators slashed",
  "Validators' health, marks: Watched proposals missed",
  'Staking fleet, marks: Watched validators slashed',
  'Chain and slashings, marks: Watched validators slashed',
  "Validators' health, marks: Reboots",
  'Staking fleet, marks: Reboots',
  'Staking machine, marks: Reboots',
];
const PEERS = QUERIES.find(({ name }) => name === 'Staking machine, Peers, peers')?.expr ?? '';

/** Machines with odd names that all pushed just now, five peers each. */
const oddMachines: Respond = ({ path }) => {
  if (!path.endsWith('/machine-metrics')) return undefined;
  const record = (machine: string, i: number) => ({ machine, timestamp: Date.now() - i });
  const page = machinesPage({
    system: ODD_NAMES.map((name, i) => systemRecord(record(name, i))),
    node: ODD_NAMES.map((name, i) => nodeRecord({ ...record(name, i), network_peers_connected: 5 })),
  });
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(page) };
};

function secured(authority: Certificate): string {
  const server = makeCertificate({ names: 'DNS:exporter.test', issuer: authority });
  const file = join(temporaryFolder(), 'web.yml');
  writeFileSync(
    file,
    `${tlsSection(server)}  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ${authority.certFile}
  client_allowed_sans: [prometheus.test]
basic_auth_users:
  prometheus: ${hashOf('secret')}
`,
  );
  return file;
}

/** A real Prometheus scrapes a demo and an exporter with oddly named machines, both over TLS with a password. */
describe.skipIf(areMissing(PROMETHEUS, PROMTOOL, OPENSSL))('system/end-to-end/prometheus', () => {
  let prometheus: Prometheus;
  let client: Certificate;
  let port: number;

  beforeAll(async () => {
    const authority = makeCertificate({ names: 'DNS:authority' });
    client = makeCertificate({ names: 'DNS:prometheus.test', issuer: authority });
    const web = secured(authority);
    const config = configFile(`${CONFIG}web: {config_file: "${web}"}\n`);
    const demo = startExporter(['demo', `--config.file=${config}`, ANY_PORT]);
    const { url } = await startService('key', { request: oddMachines });
    const others = SOURCES.filter((name) => name !== 'machines').map((name) => `${name}: {enabled: false}\n`);
    const odd = startServe(`${asking(url)}${others.join('')}web: {config_file: "${web}"}\n`, 'key');
    port = await portOf(demo);
    const target = `job="demo",instance="127.0.0.1:${port}"`;
    prometheus = await startPrometheus(
      { demo: port, odd: await portOf(odd) },
      {
        // A scrape may take as long.
        scrapeInterval: '2s',
        history: await history({ end: Date.now(), hours: 3, days: 4, target }),
        scraping: {
          scheme: 'https',
          basic_auth: { username: 'prometheus', password: 'secret' },
          tls_config: {
            ca_file: authority.certFile,
            cert_file: client.certFile,
            key_file: client.keyFile,
            server_name: 'exporter.test',
          },
        },
      },
    );
    // Rates need two scrapes, and the first comes five seconds after the start. The history has no process.
    const scraped = 'increase(process_cpu_seconds_total{job="demo"}[1m]) > 0';
    await waitFor(async () => expect(await prometheus.query(scraped)).toHaveLength(1));
    const up = 'min(beaconchain_source_up{job="demo"}) == 1';
    await waitFor(async () => expect(await prometheus.query(up)).toHaveLength(1));
  });

  it('stores odd names unchanged, and dashboard queries find them', async () => {
    await waitFor(async () => {
      const machines = await prometheus.query('beaconchain_machine_peers{job="odd"} == 5');
      expect(machines.map(({ metric }) => metric['machine']).toSorted()).toEqual(ODD_NAMES.toSorted());
    });
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
  });

  it('every query of the docs returns numbers, unless its comment says that it can be empty', async () => {
    const wrong: string[] = [];
    for (const { document, question, expr, isMaybeEmpty } of DOCUMENT_QUERIES) {
      const values = (await prometheus.query(expr)).map(({ value }) => Number(value[1]));
      if (values.length === 0 && !isMaybeEmpty) wrong.push(`${document}, ${question}: empty`);
      if (values.some((value) => !Number.isFinite(value))) wrong.push(`${document}, ${question}: ${values}`);
    }
    expect(wrong).toEqual([]);
  });

  it('every query of a dashboard returns data, except those that are empty when all is well', async () => {
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
    expect([...new Set(empty)].sort()).toEqual(EMPTY.toSorted());
  });

  it('days of a backfill, hours of an earlier process and the present are one line in a panel', async () => {
    const now = Math.ceil(Date.now() / 1000);
    const span = { from: now - 3 * DAY, to: now, step: 3600 };
    const lines = await prometheus.range(interpolate(daily('combined_apr_ratio')), span);
    expect(lines.map(({ metric }) => metric['chain']).toSorted()).toEqual(['hoodi', 'mainnet']);
    for (const { values } of lines) expect(values).toHaveLength(3 * 24 + 1);
  });

  it('no scrape failed, and promtool finds nothing in the text format', async () => {
    for (const { labels, health, lastError } of await prometheus.targets()) {
      expect({ health, lastError }, labels['job']).toEqual({ health: 'up', lastError: '' });
    }
    expect(await prometheus.query('min_over_time(up[1m]) < 1')).toEqual([]);
    expect(prometheus.program.output).not.toMatch(
      /level=(warn|error).*(scrape|append|exemplar|out.of.order|duplicate)/i,
    );
    const headers = { accept: 'text/plain;version=0.0.4', ...basic('prometheus', 'secret') };
    const tls = { rejectUnauthorized: false, cert: client.cert, key: client.key };
    const { body } = await ask(port, '/metrics', { headers, tls });
    expect(runTool(PROMTOOL, ['check', 'metrics'], body.toString())).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});

async function valuesOf(prometheus: Prometheus, { expr, instant }: PanelQuery, now: number): Promise<number[]> {
  const query = interpolate(expr);
  if (instant) return (await prometheus.query(query)).map(({ value }) => Number(value[1]));
  const ranges = await prometheus.range(query, { from: now - 2 * 3600, to: now, step: 120 });
  return ranges.flatMap(({ values }) => values.map(([, value]) => Number(value)));
}

/** The innermost selector, which is what the choice goes into. */
function selectorOf(expr: string): string {
  const [selector] = /beaconchain_\w+\{.*\}/.exec(expr) ?? [];
  if (selector === undefined) throw new TypeError(`no selector: ${expr}`);
  return selector;
}
