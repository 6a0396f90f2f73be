import { collectDefaultMetrics, Histogram, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import type { Seconds } from '../lib/time.ts';
import type { Family, FamilyHead, Labels, MetricType, Sample } from './family.ts';
import { familyOf, type Totals, withTotals } from './totals.ts';

type Json = MetricObjectWithValues<MetricValue<string> & { metricName?: string }>;

/** Gauges that prom-client names `_total`, which `promtool check metrics` rejects. */
const MISNAMED = /^nodejs_active_\w+_total$/;

export interface SelfMetricsOptions {
  /** The label values known in advance: their series start at 0. */
  readonly endpoints: readonly string[];
  readonly reasons: readonly string[];
}

/**
 * process_* and nodejs_*. Create it once per process, because its observers of event loop and garbage collector are
 * never removed.
 */
export class ProcessMetrics {
  readonly #registry = new Registry();

  /** @param isWanted If false, there are no families. */
  constructor(isWanted: boolean) {
    if (isWanted) collectDefaultMetrics({ register: this.#registry });
  }

  families(): Promise<Family[]> {
    return familiesOf(this.#registry);
  }
}

function head(name: string, type: MetricType, help: string): FamilyHead {
  return { name: `beaconchain_api_${name}`, type, help: `${help}.` };
}

/** What is counted of requests, in the order in which it is shown. */
export const REQUEST_FAMILIES = {
  requests: head(
    'requests_total',
    'counter',
    'Requests sent, including retries; the service counts them against the limits',
  ),
  failures: head('request_failures_total', 'counter', 'Requests that failed, by reason'),
  invalid: head('invalid_records_total', 'counter', 'Records dropped because they were invalid'),
  duration: head(
    'request_duration_seconds',
    'histogram',
    'Time from sending a request to the end of its response, excluding waits for the budget',
  ),
};

/** Counts the requests of this process. */
export class SelfMetrics {
  /** Plain data, but for the histogram. */
  #counters: Totals = [REQUEST_FAMILIES.requests, REQUEST_FAMILIES.failures, REQUEST_FAMILIES.invalid].map(
    ({ name }) => ({ name, samples: [] }),
  );
  readonly #expected = new Set<string>();
  readonly #reasons: readonly string[];
  readonly #registry = new Registry();
  readonly #duration: Histogram<'endpoint'>;

  constructor({ endpoints, reasons }: SelfMetricsOptions) {
    const { duration } = REQUEST_FAMILIES;
    this.#duration = new Histogram({
      name: duration.name,
      help: duration.help,
      labelNames: ['endpoint'],
      buckets: [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8],
      registers: [this.#registry],
    });
    this.#reasons = reasons;
    this.expect(endpoints);
  }

  /** These endpoints may be asked: their series start at 0, where there are none yet. */
  expect(endpoints: readonly string[]): void {
    const { requests, failures, invalid } = REQUEST_FAMILIES;
    const fresh = endpoints.filter((endpoint) => !this.#expected.has(endpoint));
    const byEndpoint = fresh.map((endpoint) => ({ labels: { endpoint }, value: 0 }));
    const byReason = byEndpoint.flatMap(({ labels, value }) =>
      this.#reasons.map((reason) => ({ labels: { ...labels, reason }, value })),
    );
    this.#counters = withTotals(this.#counters, [
      { name: requests.name, samples: byEndpoint },
      { name: failures.name, samples: byReason },
      { name: invalid.name, samples: byEndpoint },
    ]);
    for (const endpoint of fresh) {
      this.#expected.add(endpoint);
      this.#duration.zero({ endpoint });
    }
  }

  requested(endpoint: string): void {
    this.#count(REQUEST_FAMILIES.requests, { endpoint });
  }

  failed({ endpoint, reason }: { endpoint: string; reason: string }): void {
    this.#count(REQUEST_FAMILIES.failures, { endpoint, reason });
  }

  took(endpoint: string, seconds: Seconds): void {
    this.#duration.observe({ endpoint }, seconds);
  }

  invalidRecords(endpoint: string, count: number): void {
    this.#count(REQUEST_FAMILIES.invalid, { endpoint }, count);
  }

  /** What was counted so far. */
  async totals(): Promise<Totals> {
    const counters = this.#counters;
    const histograms = await familiesOf(this.#registry);
    return [...counters, ...histograms.map(({ name, samples }) => ({ name, samples }))];
  }

  #count({ name }: FamilyHead, labels: Labels, by = 1): void {
    this.#counters = withTotals(this.#counters, [{ name, samples: [{ labels, value: by }] }]);
  }
}

/** beaconchain_api_*. */
export function requestFamilies(totals: Totals): Family[] {
  return Object.values(REQUEST_FAMILIES).map((head) => familyOf(head, totals));
}

async function familiesOf(registry: Registry): Promise<Family[]> {
  const metrics = (await registry.getMetricsAsJSON()) as unknown as Json[];
  return metrics.filter(({ name }) => !MISNAMED.test(name)).map(toFamily);
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

/** OpenMetrics requires bounds as floats; the same spelling in both formats keeps the series the same. */
function encodeBound(labels: Record<string, string>): Record<string, string> {
  const { le } = labels;
  if (le === 'Infinity') return { ...labels, le: '+Inf' };
  return le !== undefined && /^\d+$/.test(le) ? { ...labels, le: `${le}.0` } : labels;
}
