/**
 * Text that every consumer of an exposition can read: lone surrogates have no UTF-8 form, and a NUL ends the input of
 * Prometheus' text parser. Both become U+FFFD.
 */
export function readableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/**
 * Untrusted text for a terminal, in one line: control characters and direction marks become escapes such as \u001b.
 */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** Direction marks, and the ranges that Unicode reserves for right-to-left scripts (DerivedBidiClass.txt). */
const DIRECTED =
  /[\u200e\u200f\u202a-\u202e\u2066-\u2069\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const [FIRST_STRONG_ISOLATE, POP_ISOLATE] = ['\u2068', '\u2069'];

/**
 * Makes untrusted text safe to embed in other text: a writing direction that it sets ends with the text
 * (https://www.unicode.org/reports/tr9/#Explicit_Directional_Isolates). Text without direction marks is returned
 * unchanged.
 */
export function isolated(text: string): string {
  // Isolation marks of its own could end the isolation.
  return DIRECTED.test(text) ? `${FIRST_STRONG_ISOLATE}${text.replace(/[\u2066-\u2069]/g, '')}${POP_ISOLATE}` : text;
}
