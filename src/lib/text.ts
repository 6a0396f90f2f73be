/**
 * Text that every consumer of an exposition can read: lone surrogates have no UTF-8 form, and a NUL ends the input of
 * Prometheus' text parser. Both become U+FFFD.
 */
export function readableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

const [FIRST_STRONG_ISOLATE, POP_ISOLATE] = ['\u2068', '\u2069'];

/**
 * Text from elsewhere, to stand among other text: whatever writing direction it asks for ends with it
 * (https://www.unicode.org/reports/tr9/#Explicit_Directional_Isolates). Plain text is returned as it is.
 */
export function isolated(text: string): string {
  if (!/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Script=Hebrew}\p{Script=Arabic}]/u.test(text)) return text;
  let open = 1;
  // An end without a beginning would end ours.
  const balanced = text.replace(/[\u2066-\u2069]/g, (character) => {
    if (character !== POP_ISOLATE) open += 1;
    else if (open > 1) open -= 1;
    else return '';
    return character;
  });
  return `${FIRST_STRONG_ISOLATE}${balanced}${POP_ISOLATE.repeat(open)}`;
}
