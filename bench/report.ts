/** Writes a table in Markdown, its columns aligned. */
export function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, i) => (cells[i] ?? '').padEnd(width)).join(' | ')} |\n`;
  say(`\n### ${title}\n\n`);
  say(line(head));
  say(`|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|\n`);
  for (const row of rows) say(line(row));
}

export function say(text: string): void {
  process.stdout.write(text);
}

/** Whether a target is met. */
export function verdict(isMet: boolean): string {
  return isMet ? 'met' : 'MISSED';
}

/** A summary of repeated measurements. */
export interface Summary {
  readonly median: number;
  /** The middle half lies between them. */
  readonly low: number;
  readonly high: number;
  readonly most: number;
  readonly count: number;
}

/** Resists the few measurements during which another process had the CPU. */
export function summary(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { median: at(0.5), low: at(0.25), high: at(0.75), most: at(1), count: sorted.length };
}

/** The median and the middle half, all in one unit. */
export function spread({ median, low, high }: Summary, unit: string): string {
  return `${digits(median)}${unit} (${digits(low)}-${digits(high)})`;
}

/** Three digits, as many as these measurements are good for. */
export function digits(value: number): string {
  if (value === 0) return '0';
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(decimals, 3));
}
