/** Markup that is safe to send unchanged. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlValue = Html | string | number;

/** Escapes every value that is not markup, because texts from the network are untrusted, and joins lists. */
export function html(strings: TemplateStringsArray, ...values: readonly (HtmlValue | readonly HtmlValue[])[]): Html {
  return new Html(strings.reduce((out, string, i) => out + textOf(values[i - 1] ?? '') + string));
}

function textOf(value: HtmlValue | readonly HtmlValue[]): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
