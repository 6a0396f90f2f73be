/** /metrics as a process served it. */
export interface Scrape {
  readonly process: number;
  /** True time, Unix ms. */
  readonly at: number;
  /** By the clock of the process, Unix ms. */
  readonly ownAt: number;
  readonly text: string;
  /** By the series as it is written, with its labels. */
  readonly series: ReadonlyMap<string, number>;
}

/** One series: the labels as written, the value, and the series as it is written. */
type One = readonly [labels: string, value: number, series: string];
type Named = ReadonlyMap<string, readonly One[]>;

/** The same series by name. */
const named = new WeakMap<Scrape['series'], Named>();

/** Reads quickly what is known to be well formed; one check reads it with care. */
export function seriesIn(text: string): ReadonlyMap<string, number> {
  const series = new Map<string, number>();
  const byName = new Map<string, One[]>();
  let name = '';
  let ones: One[] = [];
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    if (text[from] !== '#') {
      const space = text.lastIndexOf(' ', end);
      const key = text.slice(from, space);
      const value = numberOf(text.slice(space + 1, end));
      series.set(key, value);
      const brace = key.indexOf('{');
      const length = brace === -1 ? key.length : brace;
      // Most series follow others of the same name.
      if (length !== name.length || !key.startsWith(name)) {
        name = key.slice(0, length);
        ones = byName.get(name) ?? [];
        byName.set(name, ones);
      }
      ones.push([brace === -1 ? '' : key.slice(brace + 1, -1), value, key]);
    }
    from = end + 1;
  }
  named.set(series, byName);
  return series;
}

/** The text of a label as it is written. */
export function unescaped(label: string): string {
  return label.replace(/\\(.)/g, (_, one: string) => (one === 'n' ? '\n' : one));
}

export function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);
}

/** The value of the only series with this name and these labels, written as in the exposition. */
export function valueIn({ series }: Scrape, name: string, labels = ''): number | undefined {
  return series.get(labels === '' ? name : `${name}{${labels}}`);
}

/** The series of one name. */
export function seriesNamed({ series }: Scrape, name: string): readonly One[] {
  return named.get(series)?.get(name) ?? [];
}

/** The names of all series. */
export function namesIn({ series }: Scrape): Iterable<string> {
  return named.get(series)?.keys() ?? [];
}
