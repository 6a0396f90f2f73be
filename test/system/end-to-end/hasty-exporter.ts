import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { parse } from 'yaml';
import { RULE_FILES } from '../../../deploy/grafana/src/rules.ts';
import { demoConfiguration } from '../../../src/commands/demo-alerting.ts';
import type { Sandbox } from '../../../src/sandbox/world.ts';
import type { Clock } from '../../../src/toolkit/lib/clock.ts';
import { startService } from '../../support/faults/service.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { startServedExporter } from '../../support/programs/served-exporter.ts';
import { hastyDuration, hastyExpression, type Setting } from '../../support/time/haste.ts';
import { type Alertmanager, startAlertmanager } from '../../support/tools/alertmanager.ts';
import { type Prometheus, startPrometheus } from '../../support/tools/prometheus.ts';
import { atTheEnd } from '../../support/vitest/cleanup.ts';

const DEPLOY = join(import.meta.dirname, '../../../deploy');

/** The watched validator. */
export const WATCHED = 12_345;

export interface HastyExporter {
  readonly port: number;
  readonly sandbox: Sandbox;
  /** Closes its server. */
  down(): Promise<void>;
}

/** Starts the exporter and its service on this clock. @param machines Fields of the section `machines` */
export async function startHastyExporter(clock: Clock, machines: object): Promise<HastyExporter> {
  const service = await startService('key', { now: clock.now, slotsPerSlashing: Number.POSITIVE_INFINITY });
  const { exporter, port, close } = await startServedExporter({
    file: {
      api: { base_url: service.url },
      chains: { mainnet: { v1_base_url: service.url }, hoodi: { v1_base_url: `${service.url}/hoodi` } },
      machines: { chain: 'mainnet', chain_rules: [{ match: 'hoodi-*', chain: 'hoodi' }], ...machines },
      validators: { watch: { mainnet: [WATCHED] } },
    },
    key: 'key',
    clock,
    log: pino({ level: 'silent' }),
  });
  atTheEnd(() => exporter.stop());
  let closed: Promise<void> | undefined;
  const down = (): Promise<void> => (closed ??= close());
  atTheEnd(down);
  return { port, sandbox: service.sandbox, down };
}

interface RuleFile {
  groups: { rules: { expr: string; for?: string; keep_firing_for?: string }[] }[];
}

interface Haste extends Setting {
  readonly speed: number;
}

/** The shipped rules, with all durations divided by the speed and `time()` on the clock of the exporter. */
function hastyRules({ speed, ...setting }: Haste): string {
  const groups = RULE_FILES.flatMap((file) => (parse(readFileSync(file, 'utf8')) as RuleFile).groups);
  for (const rule of groups.flatMap((group) => group.rules)) {
    rule.expr = hastyExpression(rule.expr, speed, setting);
    for (const key of ['for', 'keep_firing_for'] as const) {
      const duration = rule[key];
      if (duration) rule[key] = hastyDuration(duration, speed);
    }
  }
  const file = join(temporaryFolder(), 'rules.json');
  writeFileSync(file, JSON.stringify({ groups }));
  return file;
}

/** Starts a Prometheus with the shipped rules and an Alertmanager as that of the demo, at the exporter's speed. */
export async function startHastyAlerts(
  exporter: Pick<HastyExporter, 'port'>,
  haste: Haste,
): Promise<{ prometheus: Prometheus; alertmanager: Alertmanager }> {
  const alertmanager = await startAlertmanager((webhook) =>
    hastyDuration(
      demoConfiguration(
        readFileSync(join(DEPLOY, 'alertmanager/alertmanager.yml'), 'utf8'),
        `http://${webhook}/alerts`,
      ),
      haste.speed,
    ),
  );
  const sections = {
    rule_files: [hastyRules(haste)],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanager.port}`] }] }] },
  };
  // At a speed of 100 the rules are evaluated each minute, as by default.
  const intervals = { scrapeInterval: '200ms', evaluationInterval: '600ms' };
  const prometheus = await startPrometheus({ beaconchain: exporter.port }, { sections, ...intervals });
  return { prometheus, alertmanager };
}
