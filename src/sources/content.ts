import { type Html, html } from '../toolkit/lib/html.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { absolute, relative } from '../toolkit/lib/words.ts';

/** The content of the status page about one source, apart from its attempts. */
export interface Summary {
  readonly notices?: readonly Notice[];
  /** About the chain of the source. Facts of several sources with the same label are in one cell. */
  readonly facts?: Facts;
  /** The title of the section with the facts. Default: that of the chains. */
  readonly section?: 'Validators' | 'Proposals and slashings';
  /** The facts in a few words, for a section that is folded. */
  readonly state?: string;
  /** How many of the reader's own are well. The headline adds them up over all chains. */
  readonly tally?: Record<'well' | 'known' | 'unknown', number> & { readonly noun: 'validator' | 'machine' };
  /** About the groups, joined over all sources. The last one can be about all that is in none. */
  readonly groups?: readonly { readonly group: string | undefined; readonly facts: Facts }[];
  readonly notes?: readonly string[];
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

/** The value of a fact before the first answer. */
export const NOT_KNOWN = 'not known yet';

export interface Table {
  readonly title: string;
  /** The first column heads the rows. */
  readonly columns: readonly string[];
  /** Generated on demand: a page is rendered in slices, and shows only so many. */
  readonly rows: Iterable<Row>;
  readonly size: number;
  /** How many rows are shown before the rest folds. 0: the whole table folds. */
  readonly shown?: number;
  /** The table in a few words, if it folds. Default: its size. */
  readonly state?: string;
  /** Shown instead of rows. */
  readonly empty: string;
  readonly notes?: readonly string[];
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

/** `href` must be our own: escaping does not make a foreign URL safe, which may begin with `javascript:`. */
export function link(text: string, href: string): Html {
  return html`<a href="${href}">${text}</a>`;
}

/** Small print next to something. */
export function quiet(text: string): Html {
  return html`<small>${text}</small>`;
}

export function lines(...all: readonly Cell[]): Html {
  return html`${all.flatMap((line, i) => (i === 0 ? [line] : [BREAK, line]))}`;
}

const BREAK = html`<br>`;

export interface Share {
  readonly fill: 'used' | 'others' | 'full' | 'kept' | 'left';
  readonly size: number;
  readonly text: string;
}

/**
 * Shares of a whole. The rest stays empty. The drawing is hidden from screen readers, because the words next to it say
 * the same.
 */
export function bar(total: number, shares: readonly Share[]): Html {
  let start = 0;
  const shapes = shares.map(({ fill, size }) => {
    const width = total > 0 ? Math.round((Math.min(Math.max(size, 0), total) / total) * 1000) / 10 : 0;
    const from = start === 0 ? '' : html` x="${start}%"`;
    start += width;
    return html`<rect class="${fill}"${from} width="${width}%"/>`;
  });
  const words = shares.map(({ fill, text }) =>
    shares.length === 1 ? text : html`<span class="key ${fill}">${text}</span> `,
  );
  return html`<svg class="${shares.length === 1 ? 'bar' : 'bar wide'}" aria-hidden="true">${shapes}</svg>${words}`;
}
