import { parser } from '@prometheus-io/lezer-promql';

/** Where the grammar of Prometheus finds a mistake. */
export function mistakesIn(expr: string): number[] {
  const places: number[] = [];
  parser.parse(expr).iterate({ enter: ({ type, from }) => void (type.isError && places.push(from)) });
  return places;
}

/** Metrics that an expression treats as counters although they are none, which Prometheus 3 remarks on. */
export function ratedGauges(expr: string): string[] {
  return [...expr.matchAll(/\b(?:rate|irate|increase)\(\s*([\w:]+)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !/_(?:total|count|sum|bucket)$/.test(name));
}

const TOKEN = /"(?:[^"\\]|\\.)*"|`[^`]*`|\[[^\]]*\]|[a-zA-Z_:][a-zA-Z0-9_:]*|\d[\w.]*|[=!<>]=|[=!]~|\S/g;
const NAME = /^[a-zA-Z_:]/;
const GROUPING = new Set(['on', 'by', 'ignoring', 'without', 'group_left', 'group_right']);
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'Inf']);

/**
 * The metrics and labels in an expression. A name before a parenthesis or a grouping is a function. Not a parser: it reads
 * as much of PromQL as the rules of this project need.
 */
export function namesIn(expr: string) {
  const tokens: readonly string[] = expr.match(TOKEN) ?? [];
  const metrics: string[] = [];
  /** Labels in selectors, each with its metric. The value is as written, which may be a regular expression. */
  const selected: [metric: string, label: string, value: string][] = [];
  /** Labels in on(), by(), ignoring(), without() and group_left(). */
  const grouped: string[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] ?? '';
    if (!NAME.test(token) || WORDS.has(token)) continue;
    if (tokens[i + 1] === 'by' || tokens[i + 1] === 'without') continue;
    if (tokens[i + 1] === '(') {
      if (!GROUPING.has(token)) continue;
      const end = tokens.indexOf(')', i);
      grouped.push(...tokens.slice(i + 2, end).filter((one) => one !== ','));
      i = end;
      continue;
    }
    metrics.push(token);
    if (tokens[i + 1] !== '{') continue;
    const end = tokens.indexOf('}', i);
    for (let at = i + 2; at < end; at += 4) {
      selected.push([token, tokens[at] ?? '', (tokens[at + 2] ?? '').slice(1, -1)]);
    }
    i = end;
  }
  return { metrics, selected, grouped };
}
