import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import GithubSlugger from 'github-slugger';
import { Marked, type Tokens } from 'marked';
import { VERSION } from '../src/facts/version.ts';
import { DOCUMENTS, PICTURES } from '../src/status-page/documentation.ts';
import { BASE_STYLE, pageHead } from '../src/status-page/page-style.ts';
import { Html, html } from '../src/toolkit/lib/html.ts';

const DOT = ' · ';
/** Folded text, as GitHub shows it too. A summary has only words. */
const FOLD = /^(?:<details><summary>[\w ']+<\/summary>|<\/details>)\s*$/;

/** The first heading of each document, and what a reader finds in it. */
export const TITLES: Readonly<Record<(typeof DOCUMENTS)[number], { readonly title: string; readonly about: string }>> =
  {
    'first-hour': { title: 'First hour', about: 'key, clients that push, Prometheus, Alertmanager, the first page' },
    installation: { title: 'Installation', about: 'a package, Compose, a container; how to verify a release' },
    configuration: { title: 'Configuration', about: 'recipes, then every setting and flag' },
    alerts: { title: 'Alerts', about: 'the rules, and the runbook: what each alert means and what to do' },
    dashboards: { title: 'Dashboards and status page', about: 'what Grafana and the page of the exporter show' },
    validators: { title: 'Your validators', about: 'online, duties, rewards, groups, slashings, proposals' },
    budget: { title: 'Plans and budget', about: 'what a plan is enough for, and how its requests are divided' },
    troubleshooting: { title: 'Problems and questions', about: 'symptoms and what to do, common questions' },
    backfill: { title: 'Backfill', about: 'history for a Prometheus that starts today' },
    operations: { title: 'Operations', about: 'reload, TLS and passwords, proxies, state, upgrades, logs' },
    'high-availability': { title: 'High availability', about: 'replicas that share one account' },
    'other-stacks': { title: 'Beside other stacks', about: "Rocket Pool's Smartnode, kube-prometheus-stack" },
    alternatives: { title: 'Alternatives', about: 'whether you need it, and what others do' },
    metrics: { title: 'Metrics', about: 'every metric with its labels and meaning' },
    queries: { title: 'Queries', about: 'PromQL for your own graphs and alerts' },
    glossary: { title: 'Glossary', about: 'the terms used in these pages' },
  };

/** Code in a text that is not broken, characters: about half of the width of a phone. */
const LONGEST_WORD = 24;

const DOCUMENT_STYLE = `${BASE_STYLE}
header { border-bottom: 1px solid var(--line); padding-bottom: 0.5rem; }
header p { margin: 0 0 0.25rem; color: var(--quiet); }
nav [aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
.toc { padding: 0.25rem 0.75rem; background: var(--panel); border-radius: 0.375rem; }
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
.word { white-space: nowrap; }
@media (max-width: 48rem) { td:nth-child(2):last-child { overflow-wrap: anywhere; code { overflow-wrap: inherit; } } }
[align="right"] { text-align: right; }
img { max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 0.375rem; }
`;

/**
 * Renders a page of the documentation, or the index. The build does this for the package; it does not contain this file.
 * @param repository Where files that are not served can be read; undefined if that is not known
 */
export async function renderDocument(name: string, repository?: string): Promise<string> {
  if (name === 'index') return indexPage();
  const markdown = await readFile(new URL(`../docs/${name}.md`, import.meta.url), 'utf8');
  return documentPage(
    name,
    renderMarkdown(markdown, (target) => servedLink(target, repository)),
  );
}

/** The page of a document. All links are relative, because a reverse proxy may serve the pages below another path. */
function documentPage(name: string, { body, sections }: Rendered): string {
  const document = DOCUMENTS.find((entry) => entry === name);
  const title = document ? TITLES[document].title : name;
  const contents = sections.map((section) => html`<li><a href="#${section.id}">${section.title}</a></li>`);
  const toc =
    sections.length > 1
      ? html`<nav class="toc" aria-label="On this page"><details><summary>On this page</summary><ul>${contents}</ul></details></nav>\n`
      : '';
  return frame(title, name, html`${toc}<main id="-main" tabindex="-1">\n${body}</main>`);
}

function indexPage(): string {
  const entries = Object.entries(TITLES).map(
    ([name, { title, about }]) => html`<dt><a href="${name}">${title}</a></dt><dd>${about}</dd>\n`,
  );
  return frame(
    'Documentation',
    undefined,
    html`<main id="-main" tabindex="-1">\n<h1>Documentation</h1>\n<dl>\n${entries}</dl>\n</main>`,
  );
}

/** No heading of a document has an anchor that begins with a hyphen. */
function frame(title: string, current: string | undefined, content: Html): string {
  const pages = Object.entries(TITLES).map(([name, { title: text }]) => {
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
 * Renders a document of ours. HTML in it is shown as text, except folds; comments are left out.
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
        if (FOLD.test(text)) return text;
        return html`${text.replace(/<!--[\s\S]*?-->/g, '')}`.text;
      },
      // A browser breaks lines after each hyphen, also in --help.
      codespan({ text }) {
        return text.length > LONGEST_WORD
          ? html`<code>${text}</code>`.text
          : html`<code class="word">${text}</code>`.text;
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
  ...DOCUMENTS.map((name) => [`docs/${name}.md`, name] as const),
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

// A checkout that serves its documentation runs this file.
if (import.meta.main) process.stdout.write(await renderDocument(process.argv[2] ?? 'index'));
