import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import GithubSlugger from 'github-slugger';
import { Marked, type Tokens } from 'marked';
import { VERSION } from '../src/facts/version.ts';
import { DOCUMENTS, PICTURES } from '../src/status-page/documentation.ts';
import { DOCUMENT_STYLE, pageHead } from '../src/status-page/page-style.ts';
import { Html, html } from '../src/toolkit/lib/html.ts';

const DOT = ' · ';

/**
 * Renders a page of the documentation, or the index. The build does this for the package; it does not contain this file.
 * @param repository Where files that are not served can be read; undefined if that is not known
 */
export async function renderDocument(name: string, repository: string | undefined): Promise<string> {
  if (name === 'index') return indexPage();
  const markdown = await readFile(new URL(`../docs/${name}.md`, import.meta.url), 'utf8');
  return documentPage(
    name,
    renderMarkdown(markdown, (target) => servedLink(target, repository)),
  );
}

/** The page of a document. All links are relative, because a reverse proxy may serve the pages below another path. */
function documentPage(name: string, { body, sections }: Rendered): string {
  const title = DOCUMENTS.find((entry) => entry.name === name)?.title ?? name;
  const contents = sections.map((section) => html`<li><a href="#${section.id}">${section.title}</a></li>`);
  const toc =
    sections.length > 1
      ? html`<nav class="toc" aria-label="On this page"><details><summary>On this page</summary><ul>${contents}</ul></details></nav>\n`
      : '';
  return frame(title, name, html`${toc}<main id="-main" tabindex="-1">\n${body}</main>`);
}

function indexPage(): string {
  const entries = DOCUMENTS.map(
    ({ name, title, about }) => html`<dt><a href="${name}">${title}</a></dt><dd>${about}</dd>\n`,
  );
  return frame(
    'Documentation',
    undefined,
    html`<main id="-main" tabindex="-1">\n<h1>Documentation</h1>\n<dl>\n${entries}</dl>\n</main>`,
  );
}

/** No heading of a document has an anchor that begins with a hyphen. */
function frame(title: string, current: string | undefined, content: Html): string {
  const pages = DOCUMENTS.map(({ name, title: text }) => {
    const mark = name === current ? new Html(' aria-current="page"') : '';
    return html`<li><a href="${name}"${mark}>${text}</a></li>`;
  });
  const nav = html`<nav aria-label="Documentation"><details><summary>All pages</summary><ul>${pages}</ul></details></nav>\n`;
  return html`${pageHead(`${title} · beaconchain-exporter`, DOCUMENT_STYLE)}<body>
<a class="skip" href="#-main">Skip to content</a>
<header>
<p><a href="../">Status page</a>${DOT}${current === undefined ? '' : html`<a href="./">Documentation</a>${DOT}`}beaconchain-exporter ${VERSION}</p>
${current === undefined ? '' : nav}</header>
${content}
</body>
</html>
`.text;
}

/** A document as it is shown. */
interface Rendered {
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

/** Files in docs/, by path in the repository, and their addresses below /docs/. */
const SERVED = new Map<string, string>([
  ...DOCUMENTS.map(({ name }) => [`docs/${name}.md`, name] as const),
  ...PICTURES.map((file) => [`docs/images/${file}`, `images/${file}`] as const),
]);

/**
 * Where a link of a document in docs/ leads on the served page, relative to it; undefined: nowhere.
 * @param repository Where files that are not served can be read; undefined if that is not known
 */
export function servedLink(target: string, repository: string | undefined): string | undefined {
  if (target.startsWith('#') || /^https?:\/\//.test(target)) return target;
  if (/^[a-z][a-z\d+.-]*:/i.test(target)) return undefined;
  const [file = '', anchor] = target.split('#', 2);
  const path = posix.join('docs', file);
  const address = SERVED.get(path) ?? (repository && `${repository}/${path}`);
  if (address === undefined || path.startsWith('..')) return undefined;
  return anchor === undefined ? address : `${address}#${anchor}`;
}
