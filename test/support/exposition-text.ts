export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const UNESCAPED: Readonly<Record<string, string>> = { '\\\\': '\\', '\\"': '"', '\\n': '\n' };

/** The series of a text exposition without timestamps. */
export function seriesOf(text: string): Series[] {
  return [...text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries(
      [...labels.matchAll(/(\w+)="((?:\\.|[^"\\])*)"/g)].map(([, label = '', raw = '']) => [
        label,
        raw.replace(/\\[\\"n]/g, (escaped) => UNESCAPED[escaped] ?? escaped),
      ]),
    ),
    value: numberOf(value ?? ''),
  }));
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);
}

/** The value of the one series with these labels (and others); undefined: none. */
export function seriesValue(
  text: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const matching = seriesOf(text).filter(
    (series) =>
      series.name === name && Object.entries(labels).every(([label, value]) => series.labels[label] === value),
  );
  if (matching.length > 1) throw new Error(`${matching.length} series of ${name} match`);
  return matching[0]?.value;
}
