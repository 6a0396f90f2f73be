import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import * as z from 'zod';
import { systemClock, within } from '../toolkit/lib/clock.ts';
import { visible } from '../toolkit/lib/text.ts';

/** Not the default ports, which your own Prometheus and Alertmanager have. If one is taken, the system chooses another. */
const PORTS = { prometheus: 9190, alertmanager: 9193 } as const;
/** Debian renames the program. */
const ALERTMANAGERS = ['prometheus-alertmanager', 'alertmanager'];
const STOP_WITHIN_MS = 2_000;
/** In one message from Alertmanager. */
const MAX_ALERTS = 100;
/** Where the rules are: in the npm package, in a checkout, and in the Debian package. */
const FOLDERS = ['../deploy/', '../../deploy/', '../../../share/beaconchain-exporter/'];

export interface Alerting {
  readonly prometheus: string;
  /** Undefined if not installed. */
  readonly alertmanager: string | undefined;
  stop(): Promise<void>;
}

export interface Demonstrated {
  /** Where Prometheus scrapes the exporter. */
  readonly url: string;
  readonly path: string;
  /** Where Alertmanager sends. */
  readonly receiver: string;
}

/**
 * Starts Prometheus and Alertmanager with the shipped rules, in a temporary folder that is deleted at the end.
 * @param tell Called with a sentence if one of them ends by itself
 * @returns undefined if Prometheus or the rules are not installed
 */
export async function startAlerting(
  { url, path, receiver }: Demonstrated,
  tell: (text: string) => void,
): Promise<Alerting | undefined> {
  const shipped = FOLDERS.map((folder) => fileURLToPath(new URL(folder, import.meta.url))).find((folder) =>
    existsSync(join(folder, 'prometheus/rules.yaml')),
  );
  if (shipped === undefined) return undefined;
  await using starting = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'beaconchain-demo-'));
  starting.defer(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return `--config.file=${join(folder, name)}`;
  };
  const run = async (names: readonly string[], args: readonly string[]): Promise<boolean> => {
    for (const name of names) {
      const program = await started(name, args, join(folder, `${name}.log`), tell);
      if (program) starting.defer(() => stopped(program));
      if (program) return true;
    }
    return false;
  };
  const routes = readFileSync(join(shipped, 'alertmanager/alertmanager.yml'), 'utf8');
  const alerts = `localhost:${await freePort(PORTS.alertmanager)}`;
  const hasAlertmanager = await run(ALERTMANAGERS, [
    write('alertmanager.yml', demoConfiguration(routes, receiver)),
    `--storage.path=${join(folder, 'alertmanager')}`,
    `--web.listen-address=${alerts}`,
    // No cluster: on a host without a private address Alertmanager would not start.
    '--cluster.listen-address=',
  ]);
  const scrape = `localhost:${await freePort(PORTS.prometheus)}`;
  const hasPrometheus = await run(
    ['prometheus'],
    [
      write('prometheus.yaml', prometheusConfiguration(shipped, { url, path }, hasAlertmanager ? [alerts] : [])),
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      `--web.listen-address=${scrape}`,
      // By default, an alert that fires before Prometheus has found Alertmanager is sent a minute late.
      '--rules.alert.resend-delay=5s',
    ],
  );
  if (!hasPrometheus) return undefined;
  const programs = starting.move();
  return {
    prometheus: `http://${scrape}`,
    alertmanager: hasAlertmanager ? `http://${alerts}` : undefined,
    stop: () => programs.disposeAsync(),
  };
}

/** The shipped configuration of Alertmanager, with the demo as every receiver. */
export function demoConfiguration(shipped: string, url: string): string {
  const { templates: _, ...configuration } = z
    .looseObject({ receivers: z.array(z.looseObject({ name: z.string() })) })
    .parse(parse(shipped));
  const receivers = configuration.receivers.map(({ name }) => ({
    name,
    webhook_configs: [{ url, max_alerts: MAX_ALERTS }],
  }));
  return stringify({ ...configuration, receivers }, { lineWidth: 120 });
}

function prometheusConfiguration(
  shipped: string,
  { url, path }: Pick<Demonstrated, 'url' | 'path'>,
  alertmanagers: readonly string[],
): string {
  const interval = '5s';
  return stringify({
    global: { scrape_interval: interval, evaluation_interval: interval },
    rule_files: ['rules.yaml', 'rules-extra.yaml'].map((name) => join(shipped, 'prometheus', name)),
    alerting: { alertmanagers: [{ static_configs: [{ targets: alertmanagers }] }] },
    scrape_configs: [
      {
        job_name: 'beaconchain',
        honor_labels: true,
        metrics_path: path,
        static_configs: [{ targets: [new URL(url).host] }],
      },
    ],
  });
}

/** Undefined if there is no program of this name. */
async function started(
  name: string,
  args: readonly string[],
  log: string,
  tell: (text: string) => void,
): Promise<ChildProcess | undefined> {
  const output = openSync(log, 'w');
  const program = spawn(name, args, { stdio: ['ignore', output, output] });
  closeSync(output);
  try {
    await once(program, 'spawn');
  } catch {
    return undefined;
  }
  program.once('exit', (code, signal) => {
    // Ctrl-C ends it cleanly too.
    if (code === 0) return;
    const last = readFileSync(log, 'utf8').trim().split('\n').at(-1) ?? '';
    tell(`${name} ended with ${code ?? signal}: ${visible(last)}`);
  });
  return program;
}

async function stopped(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const ended = once(program.removeAllListeners('exit'), 'exit');
  program.kill('SIGTERM');
  await within(systemClock, STOP_WITHIN_MS, ended, () => program.kill('SIGKILL'));
}

async function freePort(preferred: number): Promise<number> {
  const server = createServer();
  try {
    server.listen(preferred, 'localhost');
    await once(server, 'listening');
  } catch {
    server.listen(0, 'localhost');
    await once(server, 'listening');
  }
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
