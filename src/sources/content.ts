/** What a page says, as plain data. Every text is text: the renderer escapes it, wherever it came from. */
export interface Page {
  readonly title: string;
  /** Unix ms of what is shown. */
  readonly now: number;
  /** One line on what this is. */
  readonly about: readonly Inline[];
  readonly links: readonly Link[];
  /** The answer to "is it working?". */
  readonly verdict: Badge;
  /** Why, the worst first. */
  readonly notices: readonly Notice[];
  readonly tables: readonly Table[];
  /** Whether the browser is asked to load the page again by itself. */
  readonly isRefreshing: boolean;
}

/** How something stands. Colours show it, and words next to them. */
export type Tone = 'good' | 'neutral' | 'warning' | 'bad';

export interface Notice {
  readonly tone: Tone;
  readonly text: string;
}

export interface Table {
  readonly title: string;
  /** The first one heads the rows. */
  readonly columns: readonly string[];
  /** Made as they are taken: a page can be rendered in slices, and ends where it would get too long. */
  readonly rows: Iterable<Row>;
  readonly size: number;
  /** Said in place of rows. */
  readonly empty: string;
  readonly notes?: readonly string[];
}

/** One cell for each column. */
export type Row = readonly Cell[];

export type Cell = Inline | Lines;

export interface Lines {
  readonly kind: 'lines';
  readonly lines: readonly (readonly Inline[])[];
}

export type Inline = string | Badge | Time | Link | Bar | Quiet;

export interface Badge {
  readonly kind: 'badge';
  readonly tone: Tone;
  readonly text: string;
}

/** Shown relative to the page's own time, and absolute. */
export interface Time {
  readonly kind: 'time';
  /** Unix ms. */
  readonly at: number;
}

/** `href` is ours, never one that came from elsewhere: a scheme is nothing that escaping tames. */
export interface Link {
  readonly kind: 'link';
  readonly href: string;
  readonly text: string;
}

/** Shares of a whole; each is told in words as well. What the parts leave of `total` stays empty. */
export interface Bar {
  readonly kind: 'bar';
  readonly total: number;
  readonly parts: readonly { readonly fill: Fill; readonly size: number; readonly text: string }[];
}

export type Fill = 'used' | 'full' | 'kept' | 'left';

/** Of less weight than what is beside it. */
export interface Quiet {
  readonly kind: 'quiet';
  readonly text: string;
}

export function badge(tone: Tone, text: string): Badge {
  return { kind: 'badge', tone, text };
}

/** `at` in Unix ms; undefined: what is said instead. */
export function time(at: number | undefined, otherwise = 'never'): Time | string {
  return at === undefined ? otherwise : { kind: 'time', at };
}

export function link(text: string, href: string): Link {
  return { kind: 'link', text, href };
}

export function quiet(text: string): Quiet {
  return { kind: 'quiet', text };
}

export function lines(...all: readonly (Inline | readonly Inline[])[]): Lines {
  return { kind: 'lines', lines: all.map((line) => (isSequence(line) ? line : [line])) };
}

function isSequence(line: Inline | readonly Inline[]): line is readonly Inline[] {
  return Array.isArray(line);
}

/** What one source has to say on the page, beside how its attempts went. */
export interface Summary {
  readonly notices?: readonly Notice[];
  /** Of the chain of the source, in the order in which they are read. */
  readonly facts?: readonly (readonly [label: string, value: Cell])[];
  /** Notes on the facts. */
  readonly notes?: readonly string[];
  /** Joined, by title, with those of the other chains. */
  readonly tables?: readonly Table[];
}
