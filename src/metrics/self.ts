import {
  Counter,
  collectDefaultMetrics,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import type { Family, MetricType, Sample } from './family.ts';

type Json = MetricObjectWithValues<MetricValue<string> & { metricName?: string }>;

/** Gauges that prom-client names `_total`, which `promtool check metrics` rejects. */
const MISNAMED = /^nodejs_active_\w+_total$/;

export interface SelfMetricsOptions {
  /** Values of the labels that are known beforehand: their series start at 0. */
  readonly endpoints: readonly string[];
  readonly reasons: readonly string[];
}

/** process_* and nodejs_*. One for a process: what watches the event loop and the collector is never taken down. */
export class ProcessMetrics {
  readonly #registry = new Registry();

  /** Not wanted: there are no families. */
  constructor(isWanted: boolean) {
    if (isWanted) collectDefaultMetrics({ register: this.#registry });
  }

  families(): Promise<Family[]> {
    return familiesOf(this.#registry);
  }
}

/** The exporter's own counters. */
export class SelfMetrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<'endpoint'>;
  readonly #failures: Counter<'endpoint' | 'reason'>;
  readonly #invalid: Counter<'endpoint'>;
  readonly #duration: Histogram<'endpoint'>;

  constructor({ endpoints, reasons }: SelfMetricsOptions) {
    const registers = [this.#registry];
    this.#requests = new Counter({
      name: 'beaconchain_api_requests_total',
      help: 'Requests that left, retries included: what the service charges for.',
      labelNames: ['endpoint'],
      registers,
    });
    this.#failures = new Counter({
      name: 'beaconchain_api_request_failures_total',
      help: 'Requests that left and failed, by reason.',
      labelNames: ['endpoint', 'reason'],
      registers,
    });
    this.#invalid = new Counter({
      name: 'beaconchain_api_invalid_records_total',
      help: 'Records that were dropped because they could not be read.',
      labelNames: ['endpoint'],
      registers,
    });
    this.#duration = new Histogram({
      name: 'beaconchain_api_request_duration_seconds',
      help: 'Time from sending a request to the end of its answer, without the wait for the budget.',
      labelNames: ['endpoint'],
      buckets: [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8],
      registers,
    });
    for (const endpoint of endpoints) {
      this.#requests.inc({ endpoint }, 0);
      this.#invalid.inc({ endpoint }, 0);
      this.#duration.zero({ endpoint });
      for (const reason of reasons) this.#failures.inc({ endpoint, reason }, 0);
    }
  }

  requested(endpoint: string): void {
    this.#requests.inc({ endpoint });
  }

  failed({ endpoint, reason }: { endpoint: string; reason: string }): void {
    this.#failures.inc({ endpoint, reason });
  }

  took(endpoint: string, seconds: number): void {
    this.#duration.observe({ endpoint }, seconds);
  }

  invalidRecords(endpoint: string, count: number): void {
    this.#invalid.inc({ endpoint }, count);
  }

  /** beaconchain_api_* of this process. */
  families(): Promise<Family[]> {
    return familiesOf(this.#registry);
  }
}

async function familiesOf(registry: Registry): Promise<Family[]> {
  const metrics = (await registry.getMetricsAsJSON()) as unknown as Json[];
  return metrics.filter(({ name }) => !MISNAMED.test(name)).map(toFamily);
}

function toFamily({ name, help, type, values }: Json): Family {
  // At run time the type is a word; prom-client's declaration says number.
  return { name, help, type: type as unknown as MetricType, samples: values.map((value) => toSample(name, value)) };
}

function toSample(name: string, { metricName, labels, value }: Json['values'][number]): Sample {
  const strings = Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, String(text)]));
  const suffix = metricName?.slice(name.length);
  return { labels: encodeBound(strings), value, ...(suffix ? { suffix } : {}) };
}

/** OpenMetrics wants bounds as floats; one spelling in both formats keeps the series the same. */
function encodeBound(labels: Record<string, string>): Record<string, string> {
  const { le } = labels;
  if (le === 'Infinity') return { ...labels, le: '+Inf' };
  return le !== undefined && /^\d+$/.test(le) ? { ...labels, le: `${le}.0` } : labels;
}
