/**
 * Text that every consumer of an exposition can read: lone surrogates have no UTF-8 form, and a NUL ends the input of
 * Prometheus' text parser. Both become U+FFFD.
 */
export function readableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Control characters, direction marks, characters without a width, and every space but the usual one. */
const INVISIBLE = /(?! )[\p{Cc}\p{Cf}\p{Z}]/gu;

/** Untrusted text for a terminal, in one line: invisible characters become escapes such as \n and \u00a0. */
export function visible(text: string): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  return text.replace(INVISIBLE, (character) => short[character] ?? character.replace(/./gs, escaped));
}

/** A text in quotes, without characters that cannot be seen. */
export function quoted(text: string): string {
  return visible(JSON.stringify(text));
}

/** Names the invisible characters of a text, but not the rest, which may be a secret. Undefined if it has none. */
export function invisibleIn(text: string): string | undefined {
  const found = new Set(text.match(INVISIBLE));
  return found.size > 0 ? `it contains ${[...found].map(quoted).join(', ')}, which cannot be seen` : undefined;
}
