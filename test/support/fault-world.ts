import { rendered, requestsAnswered } from './under-way.ts';
// First, so that it sees what the program does.

import type { SecureContextOptions } from 'node:tls';
import { expect } from 'vitest';
import { ConfigFile } from '../../src/config/config.ts';
import { type Engine, startEngine } from '../../src/exporter/engine.ts';
import { NO_DOCUMENTS } from '../../src/exporter/state.ts';
import { ProcessMetrics } from '../../src/metrics/self.ts';
import type { StateStore } from '../../src/state/store.ts';
import { startServer } from '../../src/web/server.ts';
import { type Asked, ask } from './ask.ts';
import type { ReadSample } from './exposition-parser.ts';
import { seriesOf } from './exposition-text.ts';
import { FaultServer } from './fault-server.ts';
import { leaksOf } from './key-forms.ts';
import { logLines } from './log-lines.ts';
import { MINUTE, NOW } from './timing.ts';
import { VirtualClock } from './virtual-clock.ts';

// Requests cross real sockets and take real time, during which the clock of the exporter stands still. So hours pass in
// a second, and twice the same way.

export const SOURCES = ['machines', 'daily_returns', 'slashings', 'sync_committee'];
export const INTERVAL = 5 * MINUTE;
export const STALE_AFTER = 10 * MINUTE;
export const KEY = `k3y-0f+the/user's="&%account`;

export interface FaultWorldOptions {
  /** Real milliseconds. */
  readonly timeoutMs?: number;
  /** A name that leads to loopback. */
  readonly host?: string;
  readonly credentials?: SecureContextOptions;
  readonly documents?: StateStore;
}

/** The exporter, served over HTTP, and the simulated service, of which all is well at first. */
export class FaultWorld {
  readonly clock: VirtualClock;
  readonly service: FaultServer;
  /** Log lines, parsed. */
  readonly lines: readonly Record<string, unknown>[];
  /** What was saved last, or was to be, by name. */
  readonly saved: ReadonlyMap<string, string>;
  readonly port: number;
  readonly engine: Engine;
  readonly #stop: () => Promise<void>;
  #stopped: Promise<void> | undefined;
  #before = new Map<string, number>();

  private constructor(
    parts: Pick<FaultWorld, 'clock' | 'service' | 'lines' | 'saved' | 'port' | 'engine'>,
    stop: () => Promise<void>,
  ) {
    this.clock = parts.clock;
    this.service = parts.service;
    this.lines = parts.lines;
    this.saved = parts.saved;
    this.port = parts.port;
    this.engine = parts.engine;
    this.#stop = stop;
  }

  /** `begin` makes something go wrong before the first request. */
  static async start(
    options: FaultWorldOptions,
    begin: (parts: Pick<FaultWorld, 'clock' | 'service'>) => unknown = () => undefined,
  ): Promise<FaultWorld> {
    const { timeoutMs = 5_000, host = '127.0.0.1', credentials, documents = NO_DOCUMENTS } = options;
    const saved = new Map<string, string>();
    const clock = new VirtualClock(NOW, requestsAnswered);
    const service = new FaultServer({
      // The service's clock is right, whatever becomes of ours.
      now: () => NOW + clock.monotonic(),
      key: KEY,
      plan: { perSecond: 100 },
      ...(credentials && { credentials }),
    });
    await service.listen();
    await begin({ clock, service });
    const url = `${credentials ? 'https' : 'http'}://${host}:${service.port}`;
    const interval = `${INTERVAL / MINUTE}m`;
    const config = ConfigFile.parse({
      api: { base_url: url, timeout: `${timeoutMs}ms` },
      chains: { mainnet: { v1_base_url: url } },
      machines: { interval, stale_after: `${STALE_AFTER / MINUTE}m` },
      daily_returns: { interval },
      slashings: { interval },
      sync_committee: { interval },
    });
    const { log, lines } = logLines();
    const engine = await startEngine({
      config,
      key: KEY,
      clock,
      log,
      documents: {
        load: (name, schema) => documents.load(name, schema),
        save(name, value) {
          saved.set(name, JSON.stringify(value));
          return documents.save(name, value);
        },
      },
      processMetrics: new ProcessMetrics(false),
      startedAt: NOW,
      lastReload: () => ({ isSuccessful: true, successAt: NOW }),
    });
    const server = await startServer(
      { host: '127.0.0.1', port: 0, telemetryPath: '/metrics' },
      { ...engine, reload: async () => undefined, onError: (error) => log.error({ err: error }, 'page not rendered') },
    );
    return new FaultWorld({ clock, service, lines, saved, port: server.port, engine }, async () => {
      await server.close();
      await engine.stop();
      await service.close();
    });
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  ask(path: string): Promise<Asked> {
    return ask(this.port, path);
  }

  /** Where the key shows: in the logs at debug level, in what is served, in what is saved. */
  async leaks(): Promise<string[]> {
    const paths = ['/metrics', '/', '/-/healthy', '/-/ready', '/nothing'];
    const pages = await Promise.all(
      paths.map(async (path): Promise<[string, string]> => [path, (await this.ask(path)).body.toString()]),
    );
    const logs = this.lines.map((line) => JSON.stringify(line)).join('\n');
    return leaksOf(KEY, { logs, state: [...this.saved.values()].join('\n'), ...Object.fromEntries(pages) });
  }

  /** Lets time pass, and looks now and then at what is served. */
  async pass(ms: number): Promise<void> {
    const step = 3 * MINUTE;
    for (let left = ms; left > 0; left -= step) {
      await this.clock.advance(Math.min(left, step));
      await this.look();
    }
  }

  /** Lets time pass until `isSo`, and says how much. @throws where that takes longer than `most` ms */
  async until(isSo: (metrics: Metrics) => boolean, most: number): Promise<number> {
    const step = most / 6;
    for (let passed = 0; ; passed += step) {
      const metrics = await this.look();
      if (isSo(metrics)) return passed;
      if (passed > most) throw new Error(`not within ${most / 1000} s:\n${metrics.text}`);
      await this.clock.advance(step);
    }
  }

  /** What is served: always all right, never too old, and no counter of ours ever steps back. */
  async look(): Promise<Metrics> {
    for (const path of ['/-/healthy', '/', '/metrics']) expect((await this.ask(path)).status, path).toBe(200);
    // What changed is shown within a second, give or take the rendering, which takes real time.
    for (let i = 0; i < 5; i += 1) {
      await rendered();
      await this.clock.advance(300);
    }
    await rendered();
    const metrics = new Metrics((await this.ask('/metrics')).body.toString());
    expect(tooOld(metrics, this.clock.now())).toEqual([]);
    const counters = metrics.counters();
    for (const [series, value] of this.#before) {
      if (!((counters.get(series) ?? Number.NaN) >= value))
        expect.fail(`${series} was ${value}, is ${counters.get(series)}`);
    }
    this.#before = counters;
    return metrics;
  }
}

/** What changed is shown within a second. */
const SLACK_SECONDS = 2;
const MAX_AHEAD_SECONDS = 300;

/** The series that should be withdrawn at `now`. */
function tooOld(metrics: Metrics, now: number): string[] {
  // What is minutes ahead is from before the clock was set back: nobody knows how old it is.
  const isOld = (seconds: number | undefined): boolean => {
    const age = now / 1000 - (seconds ?? 0);
    return age > STALE_AFTER / 1000 + SLACK_SECONDS || age < -MAX_AHEAD_SECONDS - SLACK_SECONDS;
  };
  const seen = new Map<string, number>();
  for (const { labels, value } of metrics.of('beaconchain_machine_last_seen_timestamp_seconds')) {
    const machine = labels['machine'] ?? '';
    seen.set(machine, Math.max(seen.get(machine) ?? 0, value));
  }
  const slashingsAt = metrics.value('beaconchain_source_last_success_timestamp_seconds', 'slashings');
  return metrics
    .withdrawable()
    .filter(({ name, labels }) =>
      isOld(name.startsWith('beaconchain_head_') ? slashingsAt : seen.get(labels['machine'] ?? '')),
    )
    .map(({ name, labels }) => `${name}${JSON.stringify(labels)}`);
}

/** What was scraped. */
export class Metrics {
  readonly text: string;
  readonly series: readonly ReadSample[];

  constructor(text: string) {
    this.text = text;
    this.series = seriesOf(text);
  }

  of(name: string): readonly ReadSample[] {
    return this.series.filter((series) => series.name === name);
  }

  /** Of one source, or the sum over all. */
  value(name: string, source?: string): number {
    return this.of(name)
      .filter(({ labels }) => source === undefined || labels['source'] === source)
      .reduce((sum, { value }) => sum + value, 0);
  }

  /** What is withdrawn when it is old: values of machines and of the head. */
  withdrawable(): readonly ReadSample[] {
    return this.series.filter(
      ({ name }) =>
        name.startsWith('beaconchain_head_') ||
        (name.startsWith('beaconchain_machine_') && !name.endsWith('last_seen_timestamp_seconds')),
    );
  }

  /** Every source succeeds, and what it brings is shown. */
  isWell(): boolean {
    const shown = ['beaconchain_machine_cpu_cores', 'beaconchain_head_slot', 'beaconchain_daily_return_day'];
    return (
      SOURCES.every((source) => this.value('beaconchain_source_up', source) === 1) &&
      shown.every((name) => this.of(name).length > 0)
    );
  }

  /** Of an endpoint: the reasons of its failures. */
  reasons(endpoint?: string): string[] {
    const failures = this.of('beaconchain_api_request_failures_total');
    const own = failures.filter(
      ({ labels, value }) => value > 0 && (endpoint === undefined || labels['endpoint'] === endpoint),
    );
    return [...new Set(own.map(({ labels }) => labels['reason'] ?? ''))];
  }

  invalidRecords(endpoint: string): number {
    return (
      this.of('beaconchain_api_invalid_records_total').find(({ labels }) => labels['endpoint'] === endpoint)?.value ?? 0
    );
  }

  /** The exporter's own, by series. */
  counters(): Map<string, number> {
    return new Map(
      this.series
        .filter(({ name }) => /_total$|_count$/.test(name) && !name.startsWith('beaconchain_machine_'))
        .map(({ name, labels, value }) => [`${name}${JSON.stringify(labels)}`, value]),
    );
  }
}
