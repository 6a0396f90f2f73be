import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import type { Family, MetricType, Sample } from './family.ts';

type Json = MetricObjectWithValues<MetricValue<string> & { metricName?: string }>;

/** Gauges that prom-client names `_total`, which `promtool check metrics` rejects. */
const MISNAMED = /^nodejs_active_\w+_total$/;

/** What prom-client counts, as families. */
export async function familiesOf(registry: Registry): Promise<Family[]> {
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
