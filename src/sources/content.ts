import { type Html, html } from '../toolkit/lib/html.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { absolute, count, relative } from '../toolkit/lib/words.ts';

/** The content of the status page about one source, apart from its attempts. */
export interface Summary {
  readonly notices?: readonly Notice[];
  /** How many of the user's own are well. The headline adds them up over all chains. */
  readonly tally?: Record<'well' | 'known' | 'unknown', number> & { readonly noun: 'validator' | 'machine' };
  /** About the groups, joined over all sources. The last entry can be about what is in no group. */
  readonly groups?: readonly { readonly group: string | undefined; readonly facts: Facts }[];
  /** Tables with the same title are joined over all chains. */
  readonly tables?: readonly Table[];
}

/** In reading order. */
export type Facts = readonly (readonly [label: string, value: Cell])[];

/** How good or bad something is. Shown by colours, with words next to them. */
export type Tone = 'good' | 'neutral' | 'warning' | 'bad';

export interface Notice {
  readonly tone: Tone;
  readonly what: string;
  readonly text: string;
  /** The alert for the same condition; the page links to its runbook. */
  readonly alert?: string;
}

/** `rest` ends the text with names and advice. */
export function notice(tone: Tone, what: string, rest = ''): Notice {
  return { tone, what, text: `${what}${rest}` };
}

/** The value of a fact before the first response. */
export const NOT_KNOWN = 'not known yet';

export interface Table {
  readonly title: string;
  /** The first column heads the rows. */
  readonly columns: readonly string[];
  /** Generated on demand, because the page renders in slices and shows only some. */
  readonly rows: Iterable<Row>;
  readonly size: number;
  /** How many rows are shown before the rest folds. 0: the whole table folds. */
  readonly shown?: number;
  /** A few words for the folded table. Default: its size. */
  readonly brief?: string;
  /** Shown instead of rows. */
  readonly empty: string;
}

export type Row = readonly Cell[];

/** Markup, or text, which is always escaped. */
export type Cell = Html | string;

export function badge(tone: Tone, text: string): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}

/** A time, relative to `now` and absolute. */
export function time(at: UnixMs | undefined, now: UnixMs): Cell {
  if (at === undefined) return 'never';
  if (at === Number.POSITIVE_INFINITY) return 'stopped: needs a new key, a reload or a restart';
  const utc = absolute(at, now);
  return html`${relative(at, now)}${utc === undefined ? '' : html` <small class="at">${utc}</small>`}`;
}

/** `href` must be our own: a foreign URL may begin with `javascript:`, and escaping does not make that safe. */
export function link(text: string, href: string): Html {
  return html`<a href="${href}">${text}</a>`;
}

/** Shows a slot or a validator, with a link unless it is simulated: the explorer has no page for it, or that of another. */
export type Linked = (text: string, href: string) => Cell;

/** Small print next to something. */
export function quiet(text: string): Html {
  return html`<small>${text}</small>`;
}

export function lines(...all: readonly Cell[]): Html {
  return joined(all, BREAK);
}

const BREAK = html`<br>`;

/** The first of `all`, and the number of the others. */
export function someOf(shown: readonly Cell[], all: number): Html {
  const more = all - shown.length;
  return html`${joined(shown, ', ')}${more > 0 ? ` and ${count(more)} more` : ''}`;
}

function joined(cells: readonly Cell[], gap: Cell): Html {
  return html`${cells.flatMap((cell, i) => (i === 0 ? [cell] : [gap, cell]))}`;
}

/** A share of a whole, drawn and in words. The drawing is hidden from screen readers. */
export function bar(share: number, text: string, isFull: boolean): Html {
  const width = Math.round(Math.min(share, 1) * 1000) / 10;
  const drawn = html`<rect class="${isFull ? 'full' : 'used'}" width="${width}%"/>`;
  return html`<svg class="bar" aria-hidden="true">${drawn}</svg>${text}`;
}
