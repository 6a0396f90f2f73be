import type { Past } from '../sources/history.ts';
import type { Clock } from '../toolkit/lib/clock.ts';
import { MS_PER_HOUR } from '../toolkit/lib/duration.ts';
import type { Milliseconds, Seconds, UnixMs } from '../toolkit/lib/time.ts';
import { plural, spaced, span } from '../toolkit/lib/words.ts';
import type { Written } from './write.ts';

/** The cost of a run, and the limits that apply to it. */
export interface Costs {
  readonly what: string;
  readonly requests: number;
  /** Kinds of requests that the total divides into equally. */
  readonly parts?: readonly string[] | undefined;
  readonly sequences: number;
  readonly perSecond: number;
  readonly left: { readonly hour?: number; readonly month?: number };
}

/** The costs, for the user to decide on before the run begins. */
export function costsText({ what, requests, parts = [], sequences, perSecond, left }: Costs): string {
  const byHour = left.hour === undefined ? 0 : (MS_PER_HOUR * requests) / Math.max(1, left.hour);
  const ms = Math.max((1000 * requests) / perSecond, byHour);
  const each = `${Math.ceil(requests / parts.length)} requests and ${span(ms / parts.length)} each for`;
  const rate = `${Number(perSecond.toFixed(2))} requests a second`;
  return [
    what,
    `  requests  about ${requests}${sequences > 1 ? `, in ${sequences} spans` : ''}`,
    `  time      about ${span(ms)} at ${rate}, in which no exporter can run`,
    ...(parts.length > 0 ? [`  of these  ${each} ${parts.map(spaced).join(' and ')}`] : []),
    `  quota     ${quotaText(requests, left.month)}`,
    '',
  ].join('\n');
}

function quotaText(requests: number, month: number | undefined): string {
  if (month === undefined) return 'this plan has no known monthly quota';
  if (month === 0) return 'nothing is left this month';
  return `${Math.ceil((100 * requests) / month)} % of the ${month} requests left this month`;
}

const BAR_WIDTH = 24;

export interface Terminal {
  readonly isTTY: boolean;
  write(text: string): void;
}

/** Shows the progress of a run: a line that is redrawn on a terminal, elsewhere a line after each tenth. */
export class ProgressReport {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  #left: (() => number) | undefined;
  #began: Milliseconds = 0;
  #done = 0;
  #tenths = 0;
  #waitsFor: string | undefined;

  constructor(terminal: Terminal, clock: Clock) {
    this.#terminal = terminal;
    this.#clock = clock;
  }

  /** Before this call, only waits are shown. @param left The requests that are still expected */
  start(left: () => number): void {
    this.#left = left;
    this.#began = this.#clock.monotonic();
    this.#showProgress(left());
  }

  readonly onPage = (): void => {
    this.#waitsFor = undefined;
    this.#done += 1;
    if (this.#left) this.#showProgress(this.#left());
  };

  #showProgress(left: number): void {
    const done = this.#done;
    const share = left === 0 ? 1 : done / (done + left);
    const tenths = Math.floor(10 * share);
    if (!this.#isRedrawn() && tenths <= this.#tenths) return;
    this.#tenths = tenths;
    const bar = '#'.repeat(Math.round(BAR_WIDTH * share)).padEnd(BAR_WIDTH, '.');
    const percent = `${Math.floor(100 * share)} %`.padStart(5);
    const elapsedMs = this.#clock.monotonic() - this.#began;
    // A rate from fewer responses is a guess.
    const time = done < 10 ? '' : `, ${span((left * elapsedMs) / done)} left`;
    this.#show(`[${bar}] ${percent}  ${done} of ${done + left} requests${time}`);
  }

  readonly onWait = (reason: string, until: UnixMs): void => {
    const isNew = reason !== this.#waitsFor;
    this.#waitsFor = reason;
    if (isNew || this.#isRedrawn()) this.#show(`waiting ${span(until - this.#clock.now())}: ${reason}`);
  };

  /** The last line stays on the terminal. */
  stop(): void {
    if (this.#isRedrawn()) this.#terminal.write('\n');
  }

  #isRedrawn(): boolean {
    return this.#terminal.isTTY && this.#left !== undefined;
  }

  #show(line: string): void {
    this.#terminal.write(this.#isRedrawn() ? `\r\x1b[2K${line}` : `${line}\n`);
  }
}

export interface BackfillResult {
  readonly past: Past;
  readonly written: Written;
  /** Records that could not be read, or are outside the time range. */
  readonly bad: number;
  /** Why sequences of pages ended early. */
  readonly endings: readonly string[];
}

/** The written files, and the data that are missing in them. */
export function resultText({ past, written, bad, endings }: BackfillResult): string {
  const { files, records, samples, bytes, gapSeconds } = written;
  if (records === 0) return 'There are no records in this time range. Nothing was written.\n';
  const total = `${plural(records, 'record')}, ${plural(samples, 'sample')} in ${plural(files.length, 'file')}`;
  const lines = [`${total}, ${(bytes / 1e6).toFixed(1)} MB.`];
  if (bad > 0) lines.push(`${bad} records were dropped: they could not be read, or are outside the time range.`);
  if (endings.length > 0) lines.push(`Data may be missing: reading ended early (${endings.map(spaced).join(', ')}).`);
  if (past.flags.includes('full-resolution') && gapSeconds > MAX_GAP_SECONDS && Number.isFinite(gapSeconds)) {
    const apart = `Records are ${Math.round(gapSeconds)} s apart, although clients push every 60 s`;
    const why =
      'the service leaves out records of long ranges (--full-resolution reads them), or machines push less often';
    lines.push(`${apart}: ${why}.`);
  }
  return `${lines.join('\n')}\n`;
}

/** Clients push once a minute (api-facts 1.1). A push that is half a minute late is no gap. */
const MAX_GAP_SECONDS: Seconds = 90;

/**
 * For promtool, which makes blocks of two hours by default and reads the whole file for each. Prometheus merges every
 * block with all blocks that it overlaps, regardless of the job, so longer blocks would result in one huge block of all
 * data (docs/backfill.md).
 */
const BLOCK_DURATION = { ofDays: '744h', ofRecords: '24h' } as const;

/** Up to a month of files, a line for each. */
const MAX_LINES = 32;

/** The next steps for the user; '' if nothing was written. */
export function nextSteps({ past, written: { files } }: BackfillResult): string {
  const duration = past.isDaily ? BLOCK_DURATION.ofDays : BLOCK_DURATION.ofRecords;
  const create = `promtool tsdb create-blocks-from openmetrics --max-block-duration=${duration}`;
  const [first] = files;
  if (first === undefined) return '';
  return [
    'Next, set data to the --storage.tsdb.path of your Prometheus, and create blocks as the user that runs it:',
    '',
    ...(files.length > MAX_LINES
      ? [`  for file in ${quote(first)}*; do ${create} "$file" "$data"; done`]
      : files.map((file) => `  ${create} ${quote(file)} "$data"`)),
    '',
    'Prometheus loads them within a minute. If it runs in a container, promtool is in its image, and docs/backfill.md has',
    'the commands for Compose and Kubernetes.',
    'Prometheus deletes blocks older than --storage.tsdb.retention.time (default 15 days): raise it first.',
    '',
  ].join('\n');
}

/** For a POSIX shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
