import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { parse } from 'yaml';
import { ConfigFile } from '../../../src/config/config.ts';
import { type Engine, startEngine } from '../../../src/exporter/engine.ts';
import { NO_DOCUMENTS } from '../../../src/exporter/state.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { ProcessMetrics } from '../../../src/metrics/self.ts';
import { QUIET_MACHINE } from '../../../src/sandbox/machines-data.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import type { Sandbox } from '../../../src/sandbox/world.ts';
import { startServer } from '../../../src/web/server.ts';
import { atTheEnd } from '../../support/cleanup.ts';
import { temporaryFolder } from '../../support/files.ts';
import { hastyDuration, hastyExpression, type Setting } from '../../support/haste.ts';
import { type Prometheus, startPrometheus } from '../../support/prometheus.ts';
import { type Alertmanager, startAlertmanager } from './alertmanager.ts';

const DEPLOY = join(import.meta.dirname, '../../../deploy');

/** The validator that is watched. */
export const WATCHED = 12_345;

export interface HastyExporter {
  readonly port: number;
  readonly engine: Engine;
  readonly sandbox: Sandbox;
  /** It answers no more. */
  down(): Promise<void>;
}

interface HastyOptions {
  /** Of the section `machines`. */
  readonly machines?: object;
  readonly log?: Logger;
}

/** The exporter and the service that it reads, of which all is well. */
export async function startHastyExporter(clock: Clock, options: HastyOptions = {}): Promise<HastyExporter> {
  const service = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    clock,
    slotsPerSlashing: Number.POSITIVE_INFINITY,
  });
  atTheEnd(() => service.close());
  service.sandbox.wake(QUIET_MACHINE, clock.now());
  const config = ConfigFile.parse({
    api: { base_url: service.url },
    chains: { mainnet: { v1_base_url: service.url }, hoodi: { v1_base_url: `${service.url}/hoodi` } },
    machines: { chain: 'mainnet', chain_rules: [{ match: 'hoodi-*', chain: 'hoodi' }], ...options.machines },
    slashings: { watch: { mainnet: [WATCHED] } },
  });
  const engine = await startEngine({
    config,
    key: service.sandbox.key,
    clock,
    log: options.log ?? pino({ level: 'silent' }),
    documents: NO_DOCUMENTS,
    processMetrics: new ProcessMetrics(false),
    lastReload: () => ({ isSuccessful: true, successAt: clock.now() }),
    startedAt: clock.now(),
  });
  atTheEnd(() => engine.stop());
  const server = await startServer(
    { host: '127.0.0.1', port: 0, telemetryPath: '/metrics' },
    { ...engine, reload: async () => undefined, onError: () => undefined },
  );
  let down: Promise<void> | undefined;
  const stop = (): Promise<void> => (down ??= server.close());
  atTheEnd(stop);
  return { port: server.port, engine, sandbox: service.sandbox, down: stop };
}

interface RuleFile {
  groups: { rules: { expr: string; for?: string }[] }[];
}

interface Haste extends Setting {
  readonly speed: number;
}

/** The rules as they are shipped, with all times divided by the speed, and the time of the exporter. */
function hastyRules({ speed, ...setting }: Haste): string {
  const rules = parse(readFileSync(join(DEPLOY, 'prometheus/rules.yaml'), 'utf8')) as RuleFile;
  for (const rule of rules.groups.flatMap((group) => group.rules)) {
    rule.expr = hastyExpression(rule.expr, speed, setting);
    if (rule.for) rule.for = hastyDuration(rule.for, speed);
  }
  const file = join(temporaryFolder(), 'rules.json');
  writeFileSync(file, JSON.stringify(rules));
  return file;
}

/** A Prometheus with the rules and an Alertmanager with the example that are shipped, both as hasty as the exporter. */
export async function startHastyAlerts(
  exporter: HastyExporter,
  haste: Haste,
): Promise<{ prometheus: Prometheus; alertmanager: Alertmanager }> {
  const alertmanager = await startAlertmanager((webhook) =>
    hastyDuration(readFileSync(join(DEPLOY, 'alertmanager/alertmanager.yml'), 'utf8'), haste.speed).replaceAll(
      '127.0.0.1:5001',
      webhook,
    ),
  );
  const sections = {
    rule_files: [hastyRules(haste)],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanager.port}`] }] }] },
  };
  const prometheus = await startPrometheus({ beaconchain: exporter.port }, { sections, scrapeInterval: '200ms' });
  return { prometheus, alertmanager };
}
