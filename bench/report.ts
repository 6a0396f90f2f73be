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
