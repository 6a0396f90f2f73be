import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../../docs');

/** The queries in the `promql` blocks of the user documentation. An empty line is between two queries. */
export const DOCUMENT_QUERIES = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.md'))
  .sort()
  .flatMap((document) => queriesIn(readFileSync(join(FOLDER, document), 'utf8')).map((one) => ({ document, ...one })));

export function queriesIn(text: string) {
  const blocks = [...text.matchAll(/^```promql\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.split(/\n{2,}/));
  return blocks.map((block) => {
    const lines = block.trimEnd().split('\n');
    const expr = lines.filter((line) => !line.startsWith('#')).join('\n');
    const comment = lines.filter((line) => line.startsWith('#')).join(' ');
    return {
      /** The comment above it, or the query itself. */
      question: comment === '' ? expr : comment,
      expr,
      /** Whether the comment says that the answer can be empty. */
      isMaybeEmpty: /\(empty (while|on|without) /.test(comment),
    };
  });
}
