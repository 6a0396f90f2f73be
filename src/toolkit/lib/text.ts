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
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => character.replace(/./gs, escaped));
}
