import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { configOf } from '../../src/config/config.ts';
import { ConfigFile } from '../../src/config/schema.ts';
import { startEngine } from '../../src/engine.ts';
import { startServer } from '../../src/http/server.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { ProcessMetrics } from '../../src/metrics/self.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import type { Sandbox } from '../../src/sandbox/world.ts';
import { QUIET_MACHINE } from '../../src/sources/machines/sandbox.ts';
import { NO_DOCUMENTS } from '../../src/state.ts';
import { type Alertmanager, startAlertmanager } from '../support/alertmanager.ts';
import { atTheEnd } from '../support/cleanup.ts';
import { temporaryFolder } from '../support/files.ts';
import { hastyClock, hastyDuration, hastyExpression, type Setting } from '../support/haste.ts';
import { waitFor } from '../support/program.ts';
import { type Prometheus, startPrometheus } from '../support/prometheus.ts';
import { ALERTMANAGER, areMissing, PROMETHEUS } from '../support/tools.ts';

const SPEED = 100;
const DEPLOY = join(import.meta.dirname, '../../deploy');
const WATCHED = 12_345;
const MINUTE = 60_000;
/** An hour before day, month and quarter end. */
const EVENING = Date.UTC(2026, 8, 30, 23);

interface RuleFile {
  groups: { rules: { expr: string; for?: string }[] }[];
}

/** The rules as they are shipped, with all times divided by the speed. */
function hastyRules(setting: Setting): string {
  const rules = parse(readFileSync(join(DEPLOY, 'prometheus/rules.yaml'), 'utf8')) as RuleFile;
  for (const rule of rules.groups.flatMap((group) => group.rules)) {
    rule.expr = hastyExpression(rule.expr, SPEED, setting);
    if (rule.for) rule.for = hastyDuration(rule.for, SPEED);
  }
  const file = join(temporaryFolder(), 'rules.json');
  writeFileSync(file, JSON.stringify(rules));
  return file;
}

interface Exporter {
  readonly port: number;
  readonly sandbox: Sandbox;
  /** It answers no more. */
  down(): Promise<void>;
}

/** The exporter and the service that it reads, of which all is well. */
async function startExporterIn(clock: Clock): Promise<Exporter> {
  const service = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    clock,
    slotsPerSlashing: Number.POSITIVE_INFINITY,
  });
  atTheEnd(() => service.close());
  service.sandbox.wake(QUIET_MACHINE, clock.now());
  const file = ConfigFile.parse({
    api: { base_url: service.url },
    chains: { mainnet: { v1_base_url: service.url }, hoodi: { v1_base_url: `${service.url}/hoodi` } },
    // What a silent machine last said stays: only then there is anything to inhibit.
    machines: { chain: 'mainnet', chain_rules: [{ match: 'hoodi-*', chain: 'hoodi' }], stale_after: '6h' },
    slashings: { watch: { mainnet: [WATCHED] } },
  });
  const engine = await startEngine({
    config: configOf(file),
    key: service.sandbox.key,
    clock,
    log: pino({ level: 'silent' }),
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
  return { port: server.port, sandbox: service.sandbox, down: stop };
}

/** In the order of time: what was made to happen stays for the tests after it. */
describe.skipIf(areMissing(PROMETHEUS, ALERTMANAGER))('end-to-end/alerts', () => {
  const clock = hastyClock(SPEED, undefined, EVENING);
  let exporter: Exporter;
  let sandbox: Sandbox;
  let prometheus: Prometheus;
  let alertmanager: Alertmanager;

  beforeAll(async () => {
    exporter = await startExporterIn(clock);
    ({ sandbox } = exporter);
    alertmanager = await startAlertmanager((webhook) =>
      hastyDuration(readFileSync(join(DEPLOY, 'alertmanager/alertmanager.yml'), 'utf8'), SPEED).replaceAll(
        '127.0.0.1:5001',
        webhook,
      ),
    );
    const sections = {
      rule_files: [hastyRules(clock)],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanager.port}`] }] }] },
    };
    prometheus = await startPrometheus({ beaconchain: exporter.port }, { sections, scrapeInterval: '200ms' });
  });

  /** These and no others: where the machine has no time for the exporter, one more may flicker. */
  const expectFiring = (...expected: string[]): Promise<void> =>
    waitFor(async () => {
      const series = await prometheus.query('ALERTS{alertstate="firing"}');
      const names = series.map(({ metric: { alertname, machine } }) => [alertname, machine].filter(Boolean).join(' '));
      expect(names.toSorted()).toEqual(expected);
    });
  const notified = (alert: string): boolean =>
    alertmanager.notifications.some((told) => told.alert === alert && told.status === 'firing');
  /** Waits until the webhook was told, and says after how many minutes of the exporter's time. */
  const told = async (alert: string, since: number): Promise<number> => {
    await waitFor(() => expect(notified(alert), alert).toBe(true));
    const { at } = alertmanager.notifications.find((entry) => entry.alert === alert) ?? { at: 0 };
    const minutes = (clock.now() - (Date.now() - at) * SPEED - since) / MINUTE;
    return minutes;
  };
  const pass = async (minutes: number): Promise<void> => {
    const until = clock.now() + minutes * MINUTE;
    await waitFor(() => expect(clock.now()).toBeGreaterThan(until));
  };

  it('nothing fires in ten minutes in which all is well', async () => {
    await waitFor(async () => expect(await prometheus.query('beaconchain_source_up == 1')).toHaveLength(7));
    await pass(17);
    expect(await prometheus.query('count_over_time(ALERTS{alertstate="firing"}[1h])')).toEqual([]);
    expect(await prometheus.query('beaconchain:machine_silence_seconds')).toHaveLength(5);
    expect(alertmanager.notifications).toEqual([]);
  });

  it('a disk fills: DiskAlmostFull of that machine', async () => {
    const since = clock.now();
    sandbox.fillDisk('node-a', 0.05, since);
    expect(await told('DiskAlmostFull', since)).toBeGreaterThan(5);
    await expectFiring('DiskAlmostFull node-a');
  });

  it('the machine falls silent: MachineOffline, and its other alerts are silenced', async () => {
    const since = clock.now();
    sandbox.silence('node-a', since);
    // Its last push may have been a minute before.
    expect(await told('MachineOffline', since)).toBeGreaterThan(9);
    await expectFiring('DiskAlmostFull node-a', 'MachineOffline node-a');
    await waitFor(async () => {
      const alerts = await alertmanager.alerts();
      const states = alerts.map(({ labels, status }) => [labels['alertname'], status.state, status.inhibitedBy.length]);
      expect(states.toSorted()).toEqual([
        ['DiskAlmostFull', 'suppressed', 1],
        ['MachineOffline', 'active', 0],
      ]);
    });
  });

  it('a watched validator is slashed: WatchedValidatorSlashed, and AttesterSlashing for the log', async () => {
    const since = clock.now();
    sandbox.slash('mainnet', [WATCHED], since);
    await told('WatchedValidatorSlashed', since);
    await told('AttesterSlashing', since);
    await expectFiring('AttesterSlashing', 'DiskAlmostFull node-a', 'MachineOffline node-a', 'WatchedValidatorSlashed');
    const receivers = alertmanager.notifications.map(({ alert, receiver }) => `${alert} ${receiver}`);
    expect([...new Set(receivers)].toSorted()).toEqual([
      'AttesterSlashing log',
      'DiskAlmostFull pager',
      'MachineOffline pager',
      'WatchedValidatorSlashed pager',
    ]);
  });

  it('access is revoked: AccessRevoked, and what is said of machines is silenced', async () => {
    const since = clock.now();
    sandbox.revoke();
    await told('AccessRevoked', since);
    await pass(20);
    await expectFiring(
      'AccessRevoked',
      'AttesterSlashing',
      'DiskAlmostFull node-a',
      'MachineOffline node-a',
      'WatchedValidatorSlashed',
    );
    const alerts = await alertmanager.alerts();
    const silenced = alerts
      .filter(({ status }) => status.state === 'suppressed')
      .map(({ labels }) => labels['alertname']);
    expect(silenced.toSorted()).toEqual(['DiskAlmostFull', 'MachineOffline']);
  });

  it('the exporter is down: ExporterDown, and nothing is said of machines; the slashings stay', async () => {
    const since = clock.now();
    await exporter.down();
    expect(await told('ExporterDown', since)).toBeGreaterThan(5);
    await expectFiring('AttesterSlashing', 'ExporterDown', 'WatchedValidatorSlashed');
  });

  it('says in words what happened', () => {
    const texts = alertmanager.notifications.flatMap(({ annotations }) => [
      annotations['summary'],
      annotations['description'],
    ]);
    expect(texts).not.toContainEqual(expect.stringMatching(/<no value>|%!|NaN|\{\{/));
    expect(texts).toContain('Machine node-a (mainnet) is silent');
    expect(texts).toContainEqual(expect.stringMatching(/^Only 5% of the disk is free/));
    expect(texts).toContainEqual(expect.stringMatching(/^1 new in the last hour/));
  });
});
