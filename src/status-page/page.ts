import { link, type Notice, quiet, type Row, type Table, type Tone } from '../sources/content.ts';
import { Html, html } from '../toolkit/lib/html.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { count, plural, utc } from '../toolkit/lib/words.ts';
import { STATUS_SCRIPT } from './page-script.ts';
import { pageHead, STATUS_STYLE } from './page-style.ts';

/** Links of the page are relative, because a reverse proxy may serve it below another path. */
const DOCUMENTATION = './docs/';

export function runbookUrl(alert: string): string {
  return `${DOCUMENTATION}alerts#${alert.toLowerCase()}`;
}

/** The status page before it is written out. */
export interface StatusPage {
  readonly now: UnixMs;
  readonly about: string;
  readonly telemetryPath: string;
  readonly verdict: Notice;
  /** How many validators are online and machines healthy. */
  readonly counts: string;
  /** The reasons, the worst first. */
  readonly notices: readonly Notice[];
  readonly tables: readonly Table[];
}

const PROGRAM = 'beaconchain-exporter';

/** More rows of a table are not shown, so that the page stays readable and small. */
const MAX_ROWS = 1_000;
/** Further rows are folded, so that a phone shows the next table soon. */
const OPEN_ROWS = 10;

/** The page in pieces of about a row, for rendering in slices. */
export function* pagePieces(page: StatusPage): Generator<string> {
  yield top(page).text;
  for (const table of page.tables) {
    const { rows, size, shown = OPEN_ROWS } = table;
    yield sectionHead(table).text;
    if (size === 0)
      yield html`<tr role="row"><td role="cell" colspan="${table.columns.length}">${table.empty}</td></tr>\n`.text;
    let number = 0;
    for (const row of Iterator.from(rows).take(MAX_ROWS)) {
      if (number > 0 && number === shown)
        yield html`</tbody></table>\n${foldHead(table, html`${count(size - shown)} more`)}`.text;
      number += 1;
      yield rowHtml(row, table).text;
    }
    yield sectionEnd(table).text;
  }
  yield html`</main>\n<script>${new Html(STATUS_SCRIPT)}</script>\n</body>\n</html>\n`.text;
}

function top(page: StatusPage): Html {
  const { now, about, telemetryPath, verdict, counts, notices } = page;
  const links = [link('Metrics', `.${telemetryPath}`), link('Documentation', DOCUMENTATION)];
  return html`${pageHead(`${verdict.text} · ${PROGRAM}`, STATUS_STYLE)}<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<h1>${PROGRAM}</h1>
<nav aria-label="Elsewhere"><ul>${links.map((one) => html`<li>${one}</li>`)}</ul></nav>
</header>
<main id="main" tabindex="-1">
<section class="verdict ${verdict.tone}" aria-labelledby="verdict">
<h2 id="verdict">${verdict.text}</h2>
<p id="stale" role="status"></p>
${counts && html`<p class="counts">${counts}</p>`}
${notices.length === 0 ? '' : html`<ul>${notices.map(noticeItem)}</ul>`}
<p class="asof">Updated <span>${utc(now)}</span>; ${about}.<noscript> Reload the page for newer values.</noscript></p>
</section>
`;
}

const WORDS: Readonly<Record<Tone, string>> = { bad: 'Critical', warning: 'Warning', neutral: 'Note', good: 'Good' };

function noticeItem({ tone, text, alert }: Notice): Html {
  const runbook =
    alert === undefined ? '' : html` <a href="${runbookUrl(alert)}" aria-label="What to do: ${alert}">What to do</a>`;
  return html`<li><span class="badge ${tone}">${WORDS[tone]}</span> ${text}${runbook}</li>`;
}

/** With explicit roles: on a phone rows are displayed as cards, and some screen readers then ignore the table. */
function tableHead({ title, columns }: Table): Html {
  const heads = columns.map((column) => html`<th role="columnheader" scope="col">${column}</th>`);
  return html`<table role="table" aria-labelledby="${idOf(title)}"><thead role="rowgroup"><tr role="row">${heads}</tr></thead><tbody role="rowgroup">
`;
}

function sectionHead(table: Table): Html {
  const { title, size, shown, brief = size === 0 ? 'none' : count(size) } = table;
  const heading = html`<h2 id="${idOf(title)}">${title}</h2>`;
  const head = shown === 0 ? foldHead(table, html`${heading} ${quiet(brief)}`) : html`${heading}\n${tableHead(table)}`;
  return html`<section aria-labelledby="${idOf(title)}">\n${head}`;
}

/** Folds the rest of the section. */
function foldHead(table: Table, summary: Html): Html {
  return html`<details id="${idOf(table.title)}-fold"><summary>${summary}</summary>\n${tableHead(table)}`;
}

function sectionEnd({ size, shown = OPEN_ROWS }: Table): Html {
  const rest = `${plural(size - MAX_ROWS, 'more row')} not shown. /metrics has all of them.`;
  return html`</tbody></table>
${size > MAX_ROWS ? html`<p class="note">${rest}</p>\n` : ''}${size > shown || shown === 0 ? html`</details>\n` : ''}</section>
`;
}

/** Stays the same when the page is updated, whatever other tables it has then. */
function idOf(title: string): string {
  return title.toLowerCase().replace(/\W+/g, '-');
}

function rowHtml(row: Row, { columns }: Table): Html {
  const cells = row.map((cell, i) =>
    i === 0
      ? html`<th role="rowheader" scope="row">${cell}</th>`
      : html`<td role="cell" data-label="${columns[i] ?? ''}">${cell}</td>`,
  );
  return html`<tr role="row">${cells}</tr>\n`;
}
