/** /metrics as a process served it. */
export interface Scrape {
  readonly host: string;
  readonly process: number;
  /** True time, Unix ms. */
  readonly at: number;
  /** By the clock of the process, Unix ms. */
  readonly ownAt: number;
  readonly text: string;
  /** By the series as it is written, with its labels. */
  readonly series: ReadonlyMap<string, number>;
}

/** Reads quickly what is known to be well formed; one check reads it with care. */
export function seriesIn(text: string): ReadonlyMap<string, number> {
  const series = new Map<string, number>();
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    if (text[from] !== '#') {
      const line = text.slice(from, end);
      const space = line.lastIndexOf(' ');
      series.set(line.slice(0, space), numberOf(line.slice(space + 1)));
    }
    from = end + 1;
  }
  return series;
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);
}

/** The value of the only series with this name and these labels, written as in the exposition. */
export function valueIn({ series }: Scrape, name: string, labels = ''): number | undefined {
  return series.get(labels === '' ? name : `${name}{${labels}}`);
}

type Named = ReadonlyMap<string, readonly (readonly [labels: string, value: number])[]>;

/** The same series by name, for the scrapes that are asked for it. */
const named = new WeakMap<Scrape['series'], Named>();

/** The series of one name: the labels as written, and the value. */
export function seriesNamed({ series }: Scrape, name: string): readonly (readonly [labels: string, value: number])[] {
  const found = named.get(series) ?? byName(series);
  named.set(series, found);
  return found.get(name) ?? [];
}

function byName(series: Scrape['series']): Named {
  const all = new Map<string, [string, number][]>();
  for (const [key, value] of series) {
    const brace = key.indexOf('{');
    const name = brace === -1 ? key : key.slice(0, brace);
    const one: [string, number] = [brace === -1 ? '' : key.slice(brace + 1, -1), value];
    const others = all.get(name);
    if (others) others.push(one);
    else all.set(name, [one]);
  }
  return all;
}
