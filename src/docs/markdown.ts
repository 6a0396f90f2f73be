import GithubSlugger from 'github-slugger';
import { Marked, type Tokens } from 'marked';
import { Html, html } from '../lib/html.ts';

/** A document as it is shown. */
export interface Rendered {
  readonly body: Html;
  /** The sections of the second level, with anchors as GitHub makes them. */
  readonly sections: readonly { readonly id: string; readonly title: string }[];
}

/**
 * Renders a document of ours. HTML in it is shown as text, comments are left out.
 * @param linkOf The address of a link or picture; undefined: its text is shown without a link
 */
export function renderMarkdown(markdown: string, linkOf: (target: string) => string | undefined): Rendered {
  const slugger = new GithubSlugger();
  const sections: { id: string; title: string }[] = [];
  let heading = '';
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        heading = plain(tokens);
        const id = slugger.slug(heading);
        if (depth === 2) sections.push({ id, title: heading });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = new Html(this.parser.parseInline(tokens));
        const target = linkOf(href);
        return target === undefined ? text.text : html`<a href="${target}">${text}</a>`.text;
      },
      image({ href, text }) {
        const source = linkOf(href);
        return source === undefined ? html`${text}`.text : html`<img src="${source}" alt="${text}">`.text;
      },
      html({ text }) {
        return html`${text.replace(/<!--[\s\S]*?-->/g, '')}`.text;
      },
      // Both scroll by themselves where the screen is narrow, which the keyboard must be able to do too.
      code({ text }) {
        return html`<pre tabindex="0"><code>${text}</code></pre>\n`.text;
      },
      table({ header, rows }) {
        const cells = (row: Tokens.TableCell[]): Html => new Html(row.map((cell) => this.tablecell(cell)).join(''));
        const body = rows.map((row) => html`<tr>${cells(row)}</tr>\n`);
        return html`<div class="wide" tabindex="0" role="group" aria-label="Table: ${heading}"><table>
<thead><tr>${cells(header.map(asHead))}</tr></thead>
<tbody>
${body}</tbody></table></div>
`.text;
      },
    },
  });
  const body = new Html(marked.parse(markdown, { async: false }));
  return { body, sections };
}

/** A head without words is no head to a screen reader. */
function asHead(cell: Tokens.TableCell): Tokens.TableCell {
  return { ...cell, header: cell.text !== '' };
}

/** The words of a heading, without its formatting. */
function plain(tokens: readonly Tokens.Generic[]): string {
  return tokens.map((token) => (token.tokens ? plain(token.tokens) : String(token['text'] ?? ''))).join('');
}
