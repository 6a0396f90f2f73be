import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { RULE_FILES } from '../../../deploy/grafana/src/rules.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { temporaryFolder } from '../../support/files.ts';
import { waitFor } from '../../support/program.ts';
import { type Prometheus, type PrometheusAlert, startPrometheus } from '../../support/prometheus.ts';
import { areMissing, PROMETHEUS } from '../../support/tools.ts';
import { startHastyExporter } from './hasty-exporter.ts';

interface Rule {
  readonly alert?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

const groups = RULE_FILES.flatMap((file) => (parse(readFileSync(file, 'utf8')) as RuleFile).groups);
const alerts = groups.flatMap(({ rules }) => rules.filter(({ alert }) => alert !== undefined));
const names = alerts.map(({ alert = '' }) => alert);
/** Their series have no instance. */
const OF_NO_INSTANCE = ['BeaconchainExporterDown', 'BeaconchainNoLeader', 'BeaconchainWatchdog'];

/** The words of every shipped alert, with another expression: they fire at once. */
function firing(): string {
  const rules = alerts.map(({ alert = '', annotations }) => ({
    alert,
    annotations,
    expr: OF_NO_INSTANCE.includes(alert)
      ? 'group by (job) (beaconchain_exporter_build_info)'
      : 'beaconchain_exporter_build_info',
  }));
  return stringify({ groups: [{ name: 'firing', rules }] });
}

describe.skipIf(areMissing(PROMETHEUS))('system/end-to-end/runbook', () => {
  let port: number;

  beforeAll(async () => {
    ({ port } = await startHastyExporter(systemClock));
  });

  async function start(extra: Readonly<Record<string, string>> = {}): Promise<Prometheus> {
    const folder = temporaryFolder();
    const files = Object.entries({ 'rules.yaml': firing(), ...extra });
    for (const [file, text] of files) writeFileSync(join(folder, file), text);
    const sections = { rule_files: files.map(([file]) => join(folder, file)) };
    return startPrometheus({ beaconchain: port }, { sections });
  }

  /** The links of all alerts, once each begins so. */
  async function linksOf(prometheus: Prometheus, base: string): Promise<string[]> {
    let all: readonly PrometheusAlert[] = [];
    await waitFor(async () => {
      all = await prometheus.alerts();
      expect(all.map(({ labels }) => labels['alertname']).toSorted()).toEqual(names.toSorted());
      const links = all.map(({ labels, annotations }) => [labels['alertname'], annotations['runbook_url']]);
      expect(links).toEqual(
        all.map(({ labels: { alertname = '' } }) => [alertname, `${base}/docs/alerts#${alertname.toLowerCase()}`]),
      );
    });
    return all.map(({ annotations }) => annotations['runbook_url'] ?? '');
  }

  async function expectSections(links: readonly string[]): Promise<void> {
    for (const link of links) {
      const response = await fetch(link);
      expect([link, response.status]).toEqual([link, 200]);
      expect(await response.text(), link).toContain(`<h3 id="${new URL(link).hash.slice(1)}">`);
    }
  }

  it('every runbook_url leads to the section of its alert, on the exporter that it is about', async () => {
    const links = await linksOf(await start(), `http://127.0.0.1:${port}`);
    expect(links.length).toBeGreaterThan(35);
    await expectSections(links);
  });

  it('with exporter-url.yaml they begin with the address that it names', async () => {
    const file = readFileSync('deploy/compose/exporter-url.yaml', 'utf8');
    const { rules } = (parse(file) as RuleFile & { groups: [{ rules: [{ labels: { url: string } }] }] }).groups[0];
    expect(rules[0].labels.url).toBe('http://localhost:10032');
    const moved = file.replace(rules[0].labels.url, `http://localhost:${port}`);
    await expectSections(await linksOf(await start({ 'exporter-url.yaml': moved }), `http://localhost:${port}`));
  });
});
