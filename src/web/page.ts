import { Html, html } from '../lib/html.ts';
import type { UnixMs } from '../lib/time.ts';
import { plural, utc } from '../lib/words.ts';
import { link, type Notice, type Row, type Table, type Tone } from '../sources/content.ts';
import { ICON, pageHead, SIMULATED_ICON, STYLE } from './page-style.ts';

/** Where the page links the documentation, and in it what to do about an alert. */
export const DOCUMENTATION = { home: './docs/', alerts: './docs/alerts' } as const;

/** What to do about an alert. */
export function runbookUrl(alert: string): string {
  return `${DOCUMENTATION.alerts}#${alert.toLowerCase()}`;
}

/** The status page before it is written out. */
export interface StatusPage {
  readonly title: string;
  /** The time that the page shows. */
  readonly now: UnixMs;
  /** One line about the program. */
  readonly about: string;
  readonly links: readonly { readonly text: string; readonly href: string }[];
  /** The answer to "is it working?". */
  readonly verdict: Notice;
  /** A short text on the cost of the polls. */
  readonly cost: string;
  /** The reasons, the worst first. */
  readonly notices: readonly Notice[];
  readonly tables: readonly Table[];
  /** Whether the data are simulated. If so, the page has no links to the real chain. */
  readonly isSimulated: boolean;
  /** Whether the page reloads itself. */
  readonly isRefreshing: boolean;
}

/** The maximum size of the page, regardless of the number of rows. */
const MAX_PAGE_BYTES = 1_000_000;
/** Reserved for what follows the last row. */
const RESERVED_BYTES = 20_000;
/** Reserved for each table that follows, so that thousands of machines do not push out the budget. */
const RESERVED_FOR_TABLE_BYTES = 30_000;

/** The page in pieces of about a row, for rendering in slices. */
export function* pagePieces(page: StatusPage): Generator<string> {
  let left = MAX_PAGE_BYTES - RESERVED_BYTES;
  const take = ({ text }: Html): string => {
    left -= Buffer.byteLength(text);
    return text;
  };
  yield take(top(page));
  for (const [i, table] of page.tables.entries()) {
    yield take(tableHead(table, i));
    const reserved = (page.tables.length - 1 - i) * RESERVED_FOR_TABLE_BYTES;
    let shown = 0;
    if (table.size === 0)
      yield take(html`<tr role="row"><td role="cell" colspan="${table.columns.length}">${table.empty}</td></tr>\n`);
    for (const row of table.rows) {
      const piece = page.isSimulated ? withoutLinks(rowOf(row, table)) : rowOf(row, table);
      if (Buffer.byteLength(piece.text) > left - reserved) break;
      shown += 1;
      yield take(piece);
    }
    yield take(tableEnd(table, shown));
  }
  yield '</main>\n</body>\n</html>\n';
}

function top(page: StatusPage): Html {
  const { title, now, about, links, verdict, cost, notices, tables, isSimulated } = page;
  const headline = isSimulated ? `Simulated data: ${verdict.text}` : verdict.text;
  const nav = tables.map((table, i) => html`<li><a href="#t${i}">${table.title}</a></li>`);
  return html`${pageHead(`${headline} · ${title}`, isSimulated ? SIMULATED_ICON : ICON, STYLE)}<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<h1>${title}</h1>
<p>${about}</p>
<nav aria-label="Elsewhere"><ul>${links.map(({ text, href }) => html`<li>${link(text, href)}</li>`)}</ul></nav>
</header>
<main id="main" tabindex="-1">
<section class="verdict ${verdict.tone}" aria-labelledby="verdict">
<h2 id="verdict">${headline}</h2>
<p>${cost}</p>
${notices.length === 0 ? '' : html`<ul>${notices.map(noticeItem)}</ul>`}
<p class="asof">As of ${utc(now)}. ${refreshing(page)}</p>
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

/** A page that reloads loses the reader's position, so it reloads only on request. */
function refreshing({ isRefreshing }: StatusPage): Html {
  return isRefreshing
    ? html`Refreshes every ${REFRESH_SECONDS} s. <a href="./">Stop</a>`
    : html`<a href="${REFRESH_QUERY}">Refresh every ${REFRESH_SECONDS} s</a>`;
}

export const REFRESH_SECONDS = 30;
/** The query that requests a page that reloads itself. */
export const REFRESH_QUERY = `?refresh=${REFRESH_SECONDS}`;

/** With explicit roles: on a phone rows are displayed as cards, and some screen readers then ignore the table. */
function tableHead({ title, columns }: Table, i: number): Html {
  const heads = columns.map((column) => html`<th role="columnheader" scope="col">${column}</th>`);
  return html`<section aria-labelledby="t${i}">
<h2 id="t${i}">${title}</h2>
<table role="table" aria-labelledby="t${i}"><thead role="rowgroup"><tr role="row">${heads}</tr></thead><tbody role="rowgroup">
`;
}

function tableEnd({ size, notes = [] }: Table, shown: number): Html {
  const rest = shown < size ? [`${plural(size - shown, 'more row')} not shown. /metrics has all of them.`] : [];
  return html`</tbody></table>
${[...rest, ...notes].map((note) => html`<p class="note">${note}</p>\n`)}</section>
`;
}

function rowOf(row: Row, { columns, brief }: Table): Html {
  const cells = row.map((cell, i) =>
    i === 0
      ? html`<th role="rowheader" scope="row">${cell}</th>`
      : html`<td role="cell" data-label="${columns[i] ?? ''}">${cell}</td>`,
  );
  return html`<tr role="row"${brief?.has(row) ? BRIEF : ''}>${cells}</tr>\n`;
}

const BRIEF = html` class="brief"`;

/**
 * The same without links to other sites: a simulated validator or slot has no page there, or the page of another one.
 */
function withoutLinks({ text }: Html): Html {
  return new Html(text.replace(/<a href="https:[^"]*">(.*?)<\/a>/gs, '$1'));
}
