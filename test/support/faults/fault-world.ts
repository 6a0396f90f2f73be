import type { SecureContextOptions } from 'node:tls';
import { expect, onTestFinished } from 'vitest';
import type { Exporter } from '../../../src/exporter/exporter.ts';
import { NO_DOCUMENTS } from '../../../src/exporter/state.ts';
import { ConfigFile } from '../../../src/sources/registry.ts';
import type { StateStore } from '../../../src/toolkit/state/store.ts';
import { type RunningServer, startServer } from '../../../src/toolkit/web/server.ts';
import { steppedBack } from '../exposition/exposition-text.ts';
import { Metrics } from '../exposition/scraped-metrics.ts';
import { leaksOf } from '../log/key-forms.ts';
import { logLines } from '../log/log-lines.ts';
import { type Asked, ask } from '../network/ask.ts';
import { startInProcess } from '../programs/served-exporter.ts';
import { MINUTE, NOW } from '../time/timing.ts';
import { TRACKED, workDone } from '../time/under-way.ts';
import { VirtualClock } from '../time/virtual-clock.ts';
import { FaultServer } from './fault-server.ts';

export const INTERVAL = 5 * MINUTE;
export const STALE_AFTER = 10 * MINUTE;
/** Of the head by the time of its slot: ten minutes, which are usual, and three epochs. */
const HEAD_STALE_AFTER = 10 * MINUTE + 3 * 384_000;
/** Then nothing of the machines and the head is shown, unless it was read anew. */
export const ALL_STALE_AFTER = HEAD_STALE_AFTER + MINUTE;
const KEY = `k3y-0f+the/user's="&%account`;

export interface FaultWorldOptions {
  /** Real milliseconds. */
  readonly timeoutMs?: number;
  readonly credentials?: SecureContextOptions;
  readonly documents?: StateStore;
}

/** What is saved may be written later, so to change it in place is an error. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

/**
 * The exporter on a virtual clock, served over HTTP, and a fault server as its service. Requests cross real sockets.
 * They take real time, during which the virtual clock stands still. So hours pass in a second, and each run is the same.
 */
export class FaultWorld {
  readonly clock = new VirtualClock(NOW, workDone);
  readonly service: FaultServer;
  /** Log lines, parsed. */
  readonly lines: readonly Record<string, unknown>[];
  readonly #log: ReturnType<typeof logLines>['log'];
  /** The last version of each document that the exporter saved or tried to save. */
  readonly #saved = new Map<string, string>();
  #exporter: Exporter | undefined;
  #server: RunningServer | undefined;
  #before = '';

  private constructor({ credentials }: FaultWorldOptions) {
    ({ log: this.#log, lines: this.lines } = logLines());
    this.service = new FaultServer({
      // Tests set the clock of the exporter. That of the service stays right.
      now: () => NOW + this.clock.monotonic(),
      key: KEY,
      plan: { perSecond: 100 },
      ...(credentials && { credentials }),
    });
  }

  /** Starts everything until the end of the test. `begin` runs before the exporter sends its first request. */
  static async start(
    options: FaultWorldOptions,
    begin: (world: FaultWorld) => unknown = () => undefined,
  ): Promise<FaultWorld> {
    const world = new FaultWorld(options);
    onTestFinished(() => world.#stop());
    await world.service.listen();
    await begin(world);
    await world.#startExporter(options);
    return world;
  }

  async #startExporter(options: FaultWorldOptions): Promise<void> {
    const { timeoutMs = 5_000, credentials, documents = NO_DOCUMENTS } = options;
    const url = `${credentials ? 'https' : 'http'}://127.0.0.1:${this.service.port}`;
    const interval = `${INTERVAL / MINUTE}m`;
    const config = ConfigFile.parse({
      api: { base_url: url, timeout: `${timeoutMs}ms` },
      chains: { mainnet: { v1_base_url: url } },
      machines: { interval, stale_after: `${STALE_AFTER / MINUTE}m` },
      daily_returns: { interval },
      slashings: { interval },
      sync_committee: { interval },
    });
    this.#exporter = await startInProcess({
      settings: { config, key: KEY },
      clock: this.clock,
      outside: TRACKED,
      log: this.#log,
      documents: {
        ...NO_DOCUMENTS,
        load: (name, schema) => documents.load(name, schema),
        save: (name, value) => {
          this.#saved.set(name, JSON.stringify(value));
          return documents.save(name, frozen(value));
        },
      },
    });
    this.#server = await startServer({ host: '127.0.0.1', port: 0, telemetryPath: '/metrics' }, this.#exporter);
  }

  async #stop(): Promise<void> {
    await this.#server?.close();
    await this.#exporter?.stop();
    await this.service.close();
  }

  ask(path: string): Promise<Asked> {
    return ask(this.#server?.port ?? 0, path);
  }

  /** The places where the key shows: logs at debug level, pages, saved documents. */
  async leaks(): Promise<string[]> {
    const paths = ['/metrics', '/', '/-/healthy', '/-/ready', '/nothing'];
    const pages = await Promise.all(
      paths.map(async (path): Promise<[string, string]> => [path, (await this.ask(path)).body.toString()]),
    );
    const logs = this.lines.map((line) => JSON.stringify(line)).join('\n');
    return leaksOf(KEY, { logs, state: [...this.#saved.values()].join('\n'), ...Object.fromEntries(pages) });
  }

  /** Lets time pass, and checks every three minutes what is served. */
  async pass(ms: number): Promise<void> {
    const step = 3 * MINUTE;
    for (let left = ms; left > 0; left -= step) {
      await this.clock.advance(Math.min(left, step));
      await this.look();
    }
  }

  /** Lets time pass until the condition holds. Returns how much. @throws if that takes longer than `most` ms */
  async until(isSo: (metrics: Metrics) => boolean, most: number): Promise<number> {
    const step = most / 6;
    for (let passed = 0; ; passed += step) {
      const metrics = await this.look();
      if (isSo(metrics)) return passed;
      if (passed > most) throw new Error(`not within ${most / 1000} s:\n${metrics.text}`);
      await this.clock.advance(step);
    }
  }

  /** Scrapes. @throws if a page fails, a value is too old or a counter steps back */
  async look(): Promise<Metrics> {
    for (const path of ['/-/healthy', '/', '/metrics']) expect((await this.ask(path)).status, path).toBe(200);
    // A change is shown within a second and the real time that rendering takes.
    for (let i = 0; i < 5; i += 1) await this.clock.advance(300);
    const metrics = new Metrics((await this.ask('/metrics')).body.toString());
    expect(tooOld(metrics, this.service.time())).toEqual([]);
    expect(steppedBack(this.#before, metrics.text)).toEqual([]);
    this.#before = metrics.text;
    return metrics;
  }
}

/** A change is shown within a second. */
const SLACK_SECONDS = 2;
const MAX_AHEAD_SECONDS = 300;

/** The series that should be withdrawn at `now` (Unix ms). */
function tooOld(metrics: Metrics, now: number): string[] {
  // A time minutes ahead is from before the clock was set back. The age of the value is unknown.
  const isOld = (seconds: number | undefined, staleAfter: number): boolean => {
    const age = now / 1000 - (seconds ?? 0);
    return age > staleAfter / 1000 + SLACK_SECONDS || age < -MAX_AHEAD_SECONDS - SLACK_SECONDS;
  };
  const seen = new Map<string, number>();
  for (const { labels, value } of metrics.of('beaconchain_machine_last_seen_timestamp_seconds')) {
    const machine = labels['machine'] ?? '';
    seen.set(machine, Math.max(seen.get(machine) ?? 0, value));
  }
  const headAt = metrics.value('beaconchain_genesis_timestamp_seconds') + 12 * metrics.value('beaconchain_head_slot');
  return metrics
    .withdrawable()
    .filter(({ name, labels }) =>
      name.startsWith('beaconchain_head_')
        ? isOld(headAt, HEAD_STALE_AFTER)
        : isOld(seen.get(labels['machine'] ?? ''), STALE_AFTER),
    )
    .map(({ name, labels }) => `${name}${JSON.stringify(labels)}`);
}
