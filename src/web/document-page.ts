import { DOCUMENTS } from '../docs/catalogue.ts';
import type { Rendered } from '../docs/markdown.ts';
import { Html, html } from '../lib/html.ts';
import { VERSION } from '../lib/version.ts';
import { BASE_STYLE, ICON, pageHead, policyOf } from './page-style.ts';

/** Not in the template: the build cannot write an escape there. */
const DOT = ' · ';

const STYLE = `${BASE_STYLE}
header { border-bottom: 1px solid var(--line); padding-bottom: 0.5rem; }
header p { margin: 0 0 0.25rem; color: var(--quiet); }
nav ul { display: flex; flex-wrap: wrap; gap: 0.125rem 1rem; list-style: none; margin: 0; padding: 0; }
nav a { display: inline-block; padding: 0.25rem 0; }
nav [aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
summary { padding: 0.25rem 0; cursor: pointer; }
.toc { margin-top: 0.75rem; padding: 0.25rem 0.75rem; background: var(--panel); border-radius: 0.375rem; }
main { overflow-wrap: break-word; }
main > :not(.wide) { max-width: 56rem; }
h1 { font-size: 1.625rem; line-height: 1.25; margin: 1.5rem 0 0.75rem; }
h2 { font-size: 1.25rem; margin: 2.25rem 0 0.5rem; padding-bottom: 0.25rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.0625rem; margin: 1.75rem 0 0.375rem; }
h4 { font-size: 0.9375rem; margin: 1.25rem 0 0.25rem; }
h1, h2, h3, h4 { scroll-margin-top: 1rem; }
:target { background: var(--warning-bg); }
p, ul, ol, dl { margin: 0.5rem 0; }
li { margin: 0.25rem 0; }
dt { margin-top: 0.75rem; font-weight: 600; }
dd { margin: 0; color: var(--quiet); }
code, pre { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--panel); }
code { padding: 0.1em 0.3em; border-radius: 0.25rem; overflow-wrap: anywhere; }
pre { padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 0.375rem; overflow-x: auto; font-size: 0.8125rem; }
pre code { padding: 0; overflow-wrap: normal; font-size: inherit; }
.wide { overflow-x: auto; margin: 0.75rem 0; }
table { border-collapse: collapse; min-width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.375rem 0.75rem; border: 1px solid var(--line); min-width: 6rem; }
th { background: var(--panel); }
td code, th code { overflow-wrap: normal; }
[align="right"] { text-align: right; }
img { max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 0.375rem; }
@media (max-width: 48rem) { body { padding: 0.75rem 0.75rem 2rem; } }
@media print { nav, .skip { display: none; } }
`;

export const DOCUMENT_POLICY = policyOf(STYLE, "'self' data:");

/** The page of a document. All links are relative, because a reverse proxy may serve the pages below another path. */
export function documentPage(name: string, { body, sections }: Rendered): string {
  const title = DOCUMENTS.find((entry) => entry.name === name)?.title ?? name;
  const contents = sections.map((section) => html`<li><a href="#${section.id}">${section.title}</a></li>`);
  const toc =
    sections.length > 1
      ? html`<nav class="toc" aria-label="On this page"><details><summary>On this page</summary><ul>${contents}</ul></details></nav>\n`
      : '';
  return frame(title, name, html`${toc}<main id="-main" tabindex="-1">\n${body}</main>`);
}

export function indexPage(): string {
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
  return html`${pageHead(`${title} · beaconchain-exporter`, ICON, STYLE)}<body>
<a class="skip" href="#-main">Skip to content</a>
<header>
<p><a href="../">Status page</a>${DOT}${current === undefined ? '' : html`<a href="./">Documentation</a>${DOT}`}beaconchain-exporter ${VERSION}</p>
${current === undefined ? '' : nav}</header>
${content}
</body>
</html>
`.text;
}
