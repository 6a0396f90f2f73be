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

/** The series of one name: the labels as written, and the value. */
export function* seriesNamed({ series }: Scrape, name: string): Generator<[labels: string, value: number]> {
  for (const [key, value] of series) {
    if (key === name) yield ['', value];
    else if (key.startsWith(`${name}{`)) yield [key.slice(name.length + 1, -1), value];
  }
}
