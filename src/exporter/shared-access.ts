import type { Endpoint } from '../api/errors.ts';
import { EMPTY_BUCKET } from '../budget/bucket.ts';
import { bucketOf } from '../budget/ledger.ts';
import { closedBeside, type Spare, spareOf } from '../budget/spare.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { type KnownSource, needsOf } from '../scheduler/views.ts';
import type { Question, SharedEndpoint, SharedLimits } from '../sharing/protocol.ts';
import { NotPassedOn, type Shared } from '../sharing/shared.ts';
import { AUTO_PATHS } from '../sources/daily-returns/paths.ts';
import { MACHINES_PATH } from '../sources/machines/reading.ts';
import { budgetOptionsOf } from './budget-options.ts';
import { type Client, routesOf } from './client.ts';
import { budgetViewOf } from './picture.ts';
import type { Settings } from './settings.ts';
import { fingerprintOf } from './state.ts';

export interface SharedAccessOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly settings: () => Settings;
  readonly known: () => readonly KnownSource[];
  /** Ends all requests. */
  readonly signal: AbortSignal;
}

/** A backfill has at most eight requests in progress, which may all have been admitted before one of them counts. */
const UNCOUNTED = 8;

/** Lends the client of the exporter to a backfill, which gets the requests that the polls leave. */
export class SharedAccess implements Shared {
  readonly #options: SharedAccessOptions;
  readonly #running = new Set<Promise<unknown>>();
  #stop = new AbortController();

  constructor(options: SharedAccessOptions) {
    this.#options = options;
  }

  get fingerprint(): string {
    return fingerprintOf(this.#options.settings().key);
  }

  limits(): SharedLimits {
    const isKnown = this.#options.client.rateLimiter.ledger.key.standing !== 'unknown';
    const of = (endpoint: SharedEndpoint) => {
      const { perSecond, ...left } = this.#budgetOf(endpoint).spare;
      return { perSecond, left, isKnown };
    };
    return {
      machine_metrics: of('machine_metrics'),
      daily_returns: of('daily_returns'),
      sync_committee: of('sync_committee'),
    };
  }

  async request({ endpoint, path, body, isAgreed }: Question, gone: AbortSignal): Promise<Uint8Array> {
    const { client, settings, signal } = this.#options;
    if (!pathsOf(settings().config, endpoint).includes(path)) throw new NotPassedOn(`${path} for ${endpoint}`);
    const closed = this.#budgetOf(endpoint).closed(isAgreed);
    if (closed) throw closed;
    const stop = AbortSignal.any([signal, gone, this.#stop.signal]);
    const running = client.api.body({ endpoint, priority: 'backfill', path, body }, stop);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Ends the requests in progress, and starts none before `resume`. */
  async interrupt(): Promise<void> {
    this.#stop.abort(new Error('the settings have changed'));
    await Promise.allSettled(this.#running);
  }

  resume(): void {
    if (this.#stop.signal.aborted) this.#stop = new AbortController();
  }

  #budgetOf(endpoint: Endpoint): { spare: Spare; closed(isAgreed: boolean): Error | undefined } {
    const { client, clock, settings, known } = this.#options;
    const { config } = settings();
    const now = clock.now();
    const { ledger } = client.rateLimiter;
    const budgetOptions = budgetOptionsOf(config);
    const routeOf = routesOf(config);
    const name = bucketOf(ledger, routeOf({ endpoint }));
    const bucket = ledger.buckets[name] ?? EMPTY_BUCKET;
    const polls = needsOf(known(), budgetViewOf(ledger, { budgetOptions, routeOf }, now).bucketOf, name);
    const needs = { ...polls, atOnce: polls.atOnce + UNCOUNTED };
    const spare = spareOf(bucket, needs, budgetOptions, now);
    return { spare, closed: (isAgreed) => closedBeside(spare, bucket, isAgreed, budgetOptions, now) };
  }
}

/** The paths that a history may request on an endpoint. */
function pathsOf({ api }: Config, endpoint: SharedEndpoint): readonly string[] {
  switch (endpoint) {
    case 'machine_metrics':
      return [MACHINES_PATH];
    case 'daily_returns':
      return api.dailyReturnsPath === 'auto' ? AUTO_PATHS : [api.dailyReturnsPath];
    case 'sync_committee':
      return ['/api/v2/ethereum/sync-committee'];
  }
}
