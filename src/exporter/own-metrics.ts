import {
  Counter,
  collectDefaultMetrics,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import { FAILURE_REASONS } from '../api/errors.ts';
import type { Family, MetricType, Sample } from '../toolkit/exposition/family.ts';
import type { Seconds } from '../toolkit/lib/time.ts';

const REQUESTS = 'Requests sent, including retries; the service counts them against the limits';
const FAILURES = 'Requests that failed, by reason';
const INVALID = 'Records with a field that could not be read, and records that were dropped';
const ATTEMPTS = 'Number of attempts at a read of the source';
const FAILED_ATTEMPTS = 'Number of failed attempts at a read of the source';
const WRITE_FAILURES = 'Failed writes of the state; the exposed values stay the same until a write succeeds';

type Json = MetricObjectWithValues<MetricValue<string> & { metricName?: string }>;

/** Gauges that prom-client names `_total`, which `promtool check metrics` rejects. */
const MISNAMED = /^nodejs_active_\w+_total$/;

type SourceLabels = { readonly source: string; readonly chain?: string };

/**
 * The exporter's own counters, from the start of the process: Prometheus handles counters that start again at 0. Create
 * it once per process, because the observers of event loop and garbage collector are never removed.
 */
export class OwnMetrics {
  readonly #registry = new Registry();
  readonly #requests = this.#counter('api_requests_total', REQUESTS, ['endpoint']);
  readonly #failures = this.#counter('api_request_failures_total', FAILURES, ['endpoint', 'reason']);
  readonly #invalid = this.#counter('api_invalid_records_total', INVALID, ['endpoint']);
  readonly #duration = new Histogram({
    name: 'beaconchain_api_request_duration_seconds',
    help: 'Time from sending a request to the end of its response, excluding waits for the budget.',
    labelNames: ['endpoint'],
    buckets: [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8],
    registers: [this.#registry],
  });
  /** The endpoints whose histogram exists: another `zero` would reset the observations. */
  readonly #timed = new Set<string>();
  readonly #attempts = this.#counter('source_attempts_total', ATTEMPTS, ['source', 'chain']);
  readonly #sourceFailures = this.#counter('source_failures_total', FAILED_ATTEMPTS, ['source', 'chain']);
  readonly #waited = this.#counter('budget_wait_seconds_total', 'Time that requests waited for the budget', []);
  readonly #writeFailures = this.#counter('exporter_state_write_failures_total', WRITE_FAILURES, []);

  /** @param includesProcess Whether to include process_* and nodejs_*. */
  constructor(includesProcess: boolean) {
    // The sampler wakes the process that often. The default of 10 ms is nine tenths of all wakeups at rest.
    if (includesProcess) collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: 1_000 });
  }

  /** The series of these endpoints and sources exist from now on, with 0. */
  expect(endpoints: readonly string[], sources: readonly SourceLabels[]): void {
    for (const endpoint of endpoints) {
      this.#requests.inc({ endpoint }, 0);
      this.#invalid.inc({ endpoint }, 0);
      for (const reason of FAILURE_REASONS) this.#failures.inc({ endpoint, reason }, 0);
      if (!this.#timed.has(endpoint)) this.#duration.zero({ endpoint });
      this.#timed.add(endpoint);
    }
    for (const source of sources) {
      this.#attempts.inc(source, 0);
      this.#sourceFailures.inc(source, 0);
    }
  }

  requested(endpoint: string): void {
    this.#requests.inc({ endpoint });
  }

  failed({ endpoint, reason }: { endpoint: string; reason: string }): void {
    this.#failures.inc({ endpoint, reason });
  }

  took(endpoint: string, seconds: Seconds): void {
    this.#duration.observe({ endpoint }, seconds);
  }

  invalidRecords(endpoint: string, count: number): void {
    this.#invalid.inc({ endpoint }, count);
  }

  ran(source: SourceLabels, isFailure: boolean): void {
    this.#attempts.inc(source);
    if (isFailure) this.#sourceFailures.inc(source);
  }

  waited(seconds: Seconds): void {
    this.#waited.inc(seconds);
  }

  stateWriteFailed(): void {
    this.#writeFailures.inc();
  }

  async families(): Promise<Family[]> {
    const metrics = (await this.#registry.getMetricsAsJSON()) as unknown as Json[];
    return metrics.filter(({ name }) => !MISNAMED.test(name)).map(toFamily);
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name: `beaconchain_${name}`, help: `${help}.`, labelNames, registers: [this.#registry] });
  }
}

function toFamily({ name, help, type, values }: Json): Family {
  // At run time the type is a string, although prom-client declares a number.
  return { name, help, type: type as unknown as MetricType, samples: values.map((value) => toSample(name, value)) };
}

function toSample(name: string, { metricName, labels, value }: Json['values'][number]): Sample {
  const strings = Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, String(text)]));
  const suffix = metricName?.slice(name.length);
  return { labels: encodeBound(strings), value, ...(suffix ? { suffix } : {}) };
}

/** OpenMetrics requires bounds as floats. With the same spelling in both formats the series stay the same. */
function encodeBound(labels: Record<string, string>): Record<string, string> {
  const { le } = labels;
  return le !== undefined && /^\d+$/.test(le) ? { ...labels, le: `${le}.0` } : labels;
}
