import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { importSamples, type Prometheus, type Range, startPrometheus } from './prometheus.ts';

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Evaluated so often, seconds. */
const STEP = 60;

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Adds what the rules would have recorded and the alerts that would have fired. promtool can do so with rules that
 * record, but not with alerts.
 */
export async function addRules(files: readonly string[], folder: string, span: Span): Promise<void> {
  const groups = files.flatMap((file) => (parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] }).groups);
  let waiting = groups.flatMap(({ rules }) => rules);
  while (waiting.length > 0) {
    const unknown = waiting.flatMap(({ record }) => record ?? []);
    const isKnown = ({ expr }: Rule): boolean => !unknown.some((name) => expr.includes(name));
    const ready = waiting.filter(isKnown);
    if (ready.length === 0) throw new Error(`rules that need each other: ${unknown.join(', ')}`);
    // A Prometheus finds imported samples when it starts.
    const prometheus = await startPrometheus(folder);
    const lines: string[] = [];
    for (const rule of ready) lines.push(...(await evaluate(prometheus, rule, span)));
    await prometheus.stop();
    importSamples(lines, folder);
    waiting = waiting.filter((rule) => !ready.includes(rule));
  }
}

async function evaluate(prometheus: Prometheus, rule: Rule, span: Span): Promise<string[]> {
  const found = await prometheus.range(rule.expr, { ...span, step: STEP });
  if (rule.record === undefined) return found.flatMap((range) => alertLines(rule, range));
  const name = rule.record;
  return found.flatMap(({ metric, values }) =>
    values.map(([time, value]) => line(name, { ...metric, ...rule.labels }, value, time)),
  );
}

/** What Prometheus writes while an alert is pending or fires. */
function alertLines(rule: Rule, { metric, values }: Range): string[] {
  const labels = { ...metric, ...rule.labels, alertname: rule.alert ?? '' };
  const lines: string[] = [];
  const write = (alertstate: string, since: number, time: number): void => {
    lines.push(
      line('ALERTS', { ...labels, alertstate }, '1', time),
      line('ALERTS_FOR_STATE', labels, `${since}`, time),
    );
  };
  let since = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (const [time] of values) {
    if (time - last > STEP) {
      const isFiring = last - since >= seconds(rule.for);
      const kept = isFiring ? Math.min(last + seconds(rule.keep_firing_for), time) : last;
      for (let at = last + STEP; at < kept; at += STEP) write('firing', since, at);
      if (kept < time) since = time;
    }
    write(time - since >= seconds(rule.for) ? 'firing' : 'pending', since, time);
    last = time;
  }
  return lines;
}

function line(name: string, { __name__, ...labels }: Range['metric'], value: string, time: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
  return `${name}{${pairs.join(',')}} ${value} ${time}`;
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

function seconds(duration = '0s'): number {
  return Number(duration.slice(0, -1)) * (UNITS[duration.slice(-1)] ?? Number.NaN);
}
