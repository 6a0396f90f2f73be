import { styleText } from 'node:util';

type Stream = NodeJS.WriteStream;

/** The word that begins a warning, in yellow on a terminal. */
export function withWarnings(text: string, stream: Stream): string {
  return text.replace(/^Warning:/gm, (word) => styleText('yellow', word, { stream }));
}

/** Mistakes, in red on a terminal. */
export function asMistakes(text: string, stream: Stream): string {
  return text
    .split('\n')
    .map((line) => styleText('red', line, { stream }))
    .join('\n');
}
