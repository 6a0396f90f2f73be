import { link, type Notice, type Row, type Table, type Tone } from '../sources/content.ts';
import { type Html, html } from '../toolkit/lib/html.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { plural, utc } from '../toolkit/lib/words.ts';
import { pageHead, STATUS_STYLE } from './page-style.ts';

/** Where the page links the documentation, and in it what to do about an alert. */
export const DOCUMENTATION = { home: './docs/', alerts: './docs/alerts' } as const;

export function runbookUrl(alert: string): string {
  return `${DOCUMENTATION.alerts}#${alert.toLowerCase()}`;
}

/** The status page before it is written out. */
export interface StatusPage {
  readonly now: UnixMs;
  readonly about: string;
  readonly links: readonly { readonly text: string; readonly href: string }[];
  /** The answer to "is it working?". */
  readonly verdict: Notice;
  /** The reasons, the worst first. */
  readonly notices: readonly Notice[];
  readonly tables: readonly Table[];
  /** Whether the data are simulated. If so, the page has no links to the real chain. */
  readonly isSimulated: boolean;
}

const PROGRAM = 'beaconchain-exporter';

/** More rows of a table are not shown, so that the page stays readable and small. */
const MAX_ROWS = 1_000;

/** The page in pieces of about a row, for rendering in slices. */
export function* pagePieces(page: StatusPage): Generator<string> {
  yield top(page).text;
  for (const [i, table] of page.tables.entries()) {
    yield tableHead(table, i).text;
    if (table.size === 0)
      yield html`<tr role="row"><td role="cell" colspan="${table.columns.length}">${table.empty}</td></tr>\n`.text;
    for (const row of Iterator.from(table.rows).take(MAX_ROWS)) {
      const { text } = rowOf(row, table);
      yield page.isSimulated ? withoutLinks(text) : text;
    }
    yield tableEnd(table).text;
  }
  yield '</main>\n</body>\n</html>\n';
}

function top(page: StatusPage): Html {
  const { now, about, links, verdict, notices, tables, isSimulated } = page;
  const headline = isSimulated ? `Simulated data: ${verdict.text}` : verdict.text;
  const nav = tables.map((table, i) => html`<li><a href="#t${i}">${table.title}</a></li>`);
  return html`${pageHead(`${headline} · ${PROGRAM}`, STATUS_STYLE)}<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<h1>${PROGRAM}</h1>
<p>${about}</p>
<nav aria-label="Elsewhere"><ul>${links.map(({ text, href }) => html`<li>${link(text, href)}</li>`)}</ul></nav>
</header>
<main id="main" tabindex="-1">
<section class="verdict ${verdict.tone}" aria-labelledby="verdict">
<h2 id="verdict">${headline}</h2>
${notices.length === 0 ? '' : html`<ul>${notices.map(noticeItem)}</ul>`}
<p class="asof">As of ${utc(now)}.</p>
</section>
<nav class="toc" aria-label="On this page"><ul>${nav}</ul></nav>
`;
}

const WORDS = { bad: 'Critical', warning: 'Warning', neutral: 'Note', good: 'Good' } as const satisfies Record<
  Tone,
  string
>;

/** With the word for its colour, and a link to what to do about it. */
function noticeItem({ tone, text, alert }: Notice): Html {
  const runbook =
    alert === undefined ? '' : html` <a href="${runbookUrl(alert)}" aria-label="What to do: ${alert}">What to do</a>`;
  return html`<li><span class="badge ${tone}">${WORDS[tone]}</span> ${text}${runbook}</li>`;
}

/** With explicit roles: on a phone rows are displayed as cards, and some screen readers then ignore the table. */
function tableHead({ title, columns }: Table, i: number): Html {
  const heads = columns.map((column) => html`<th role="columnheader" scope="col">${column}</th>`);
  return html`<section aria-labelledby="t${i}">
<h2 id="t${i}">${title}</h2>
<table role="table" aria-labelledby="t${i}"><thead role="rowgroup"><tr role="row">${heads}</tr></thead><tbody role="rowgroup">
`;
}

function tableEnd({ size, notes = [] }: Table): Html {
  const rest = size > MAX_ROWS ? [`${plural(size - MAX_ROWS, 'more row')} not shown. /metrics has all of them.`] : [];
  return html`</tbody></table>
${[...rest, ...notes].map((note) => html`<p class="note">${note}</p>\n`)}</section>
`;
}

function rowOf(row: Row, { columns }: Table): Html {
  const cells = row.map((cell, i) =>
    i === 0
      ? html`<th role="rowheader" scope="row">${cell}</th>`
      : html`<td role="cell" data-label="${columns[i] ?? ''}">${cell}</td>`,
  );
  return html`<tr role="row">${cells}</tr>\n`;
}

/** The same without links to other sites: a simulated validator or slot has no page there, or the page of another one. */
function withoutLinks(text: string): string {
  return text.replace(/<a href="https:[^"]*">(.*?)<\/a>/gs, '$1');
}
