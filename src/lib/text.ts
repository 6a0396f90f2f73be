/**
 * Text that every consumer of an exposition can read: lone surrogates have no UTF-8 form, and a NUL ends the input of
 * Prometheus' text parser. Both become U+FFFD.
 */
export function readableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
