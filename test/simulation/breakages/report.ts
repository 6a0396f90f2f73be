import type { BreakageResult } from './runner.ts';

const MARK = '<!-- table: npm run simulate -- --breakages -->';
const END = '<!-- end of table -->';

/** The breakages as a table: what each does, and which check finds it at which seed. Without the times, which vary. */
export function tableOf(results: readonly BreakageResult[]): string {
  const rows = results.map(({ breakage: { name, file, why }, found }) =>
    [name, `\`src/${file}\``, why, found ? found.check : '**not found**', found ? String(found.seed) : ''].map(cell),
  );
  const head = ['breakage', 'file', 'what goes wrong', 'found by', 'at seed'];
  const lines = [head.join(' | '), '---|---|---|---|--:', ...rows.map((row) => row.join(' | '))];
  return `${lines.map((line) => (line.startsWith('---') ? `|${line}|` : `| ${line} |`)).join('\n')}\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** The document with this table. @throws TypeError where it has no place for one */
export function withBreakages(document: string, table: string): string {
  const start = document.indexOf(MARK);
  const end = document.indexOf(END, start);
  if (start < 0 || end < 0) throw new TypeError(`no ${MARK}`);
  return `${document.slice(0, start)}${MARK}\n${table}${document.slice(end)}`;
}

/** One line for each breakage that was not found. */
export function missed(results: readonly BreakageResult[]): string[] {
  return results.flatMap(({ breakage: { name }, found, problem }) =>
    found ? [] : [problem === undefined ? `not found: ${name}` : `no result: ${name} ${problem}`],
  );
}
