import { say, table, verdict } from '../report.ts';
import type { Taken } from '../soak-exporter.ts';
import { digits, summary } from '../stats.ts';
import type { Trouble } from './world.ts';

/** What was seen in one of the spans that the day is told in. */
export interface Span extends Taken {
  readonly scrapes: number;
  /** 99th percentile. */
  readonly scrapeMs: number;
}

/** What was seen while one thing went wrong and in the peace after it. */
export interface Seen {
  readonly kind: Trouble['kind'];
  /** How long it went wrong. */
  readonly minutes: number;
  /** Requests meanwhile, by what they ask for. */
  readonly polls: Readonly<Record<string, number>>;
  /** Of scrapes, milliseconds. */
  readonly times: readonly number[];
  /** Most memory above that at its begin. */
  readonly peakMiB: number;
}

interface Day {
  readonly hours: number;
  readonly speed: number;
  readonly spans: readonly Span[];
  readonly seen: readonly Seen[];
  /** How many starts were compared with what was shown. */
  readonly looks: number;
  /** The last scrape. */
  readonly text: string;
}

export function reportDay(day: Day): void {
  const { hours, speed, spans, seen, looks, text } = day;
  table(
    `${hours} h at ${speed} times the speed, 100 machines and one chain more, something wrong in a quarter of the time`,
    ['hour', 'RSS', 'heap', 'handles', 'open files', 'event-loop delay p99', 'longest', 'scrapes', 'scrape p99'],
    spans.map((span, i) => [
      digits(((i + 1) * hours) / spans.length),
      `${digits(span.rssMiB)} MiB`,
      `${digits(span.heapMiB)} MiB`,
      `${span.handles.length}`,
      `${span.files}`,
      `${digits(span.delayMs)} ms`,
      `${digits(span.longestDelayMs)} ms`,
      `${span.scrapes}`,
      `${digits(span.scrapeMs)} ms`,
    ]),
  );
  if (seen.length > 0) byKind(seen);
  if (hours >= 24) judge(spans, seen);
  say(`\nStarts that were compared with what was shown: ${looks}.\n`);
  const failures = text.matchAll(/^beaconchain_api_request_failures_total\{.*reason="(\w+)".*\} (\d+)$/gm);
  const byReason = new Map<string, number>();
  for (const [, reason = '', count] of failures) byReason.set(reason, (byReason.get(reason) ?? 0) + Number(count));
  const requests = [...text.matchAll(/^beaconchain_api_requests_total\{.*\} (\d+)$/gm)];
  const sum = requests.reduce((total, [, count]) => total + Number(count), 0);
  const failed = [...byReason].filter(([, count]) => count > 0).map(([reason, count]) => `${reason} ${count}`);
  say(`\nRequests: ${sum}. Failures: ${failed.join(', ')}.\n`);
}

function byKind(seen: readonly Seen[]): void {
  table(
    'By what went wrong, the peace after it included',
    ['with', 'phases', 'scrapes', 'p99', 'longest', 'requests a minute while it lasts', 'most RSS above the begin'],
    [...Map.groupBy(seen, ({ kind }) => kind)].map(([kind, phases]) => {
      const times = summary(phases.flatMap((phase) => phase.times));
      const requests = phases.flatMap(({ polls }) => Object.values(polls)).reduce((sum, count) => sum + count, 0);
      const minutes = phases.reduce((sum, phase) => sum + phase.minutes, 0);
      return [
        kind,
        `${phases.length}`,
        `${times.count}`,
        `${digits(times.p99)} ms`,
        `${digits(times.most)} ms`,
        digits(requests / minutes),
        `${digits(Math.max(...phases.map(({ peakMiB }) => peakMiB)))} MiB`,
      ];
    }),
  );
}

/** Whether it is flat. */
function judge(spans: readonly Span[], seen: readonly Seen[]): void {
  // A sixth of the day is the warm-up: by then code is compiled and buffers have their size.
  const early = spans.slice(spans.length / 6, spans.length / 2);
  const late = spans.slice(-spans.length / 3);
  const growth = (of: (span: Span) => number): number => summary(late.map(of)).median / summary(early.map(of)).median;
  table(
    'Median of the last third against that of the second sixth to the half',
    ['', 'growth', 'bound', ''],
    (
      [
        ['heap', growth(({ heapMiB }) => heapMiB), 1.1],
        ['RSS', growth(({ rssMiB }) => rssMiB), 1.15],
        ['handles', growth(({ handles }) => handles.length), 1.25],
        ['open files', growth(({ files }) => files), 1.25],
        ['scrape p99', growth(({ scrapeMs }) => scrapeMs), 1.5],
      ] as const
    ).map(([what, ratio, bound]) => [
      what,
      `${((ratio - 1) * 100).toFixed(1)} %`,
      `${((bound - 1) * 100).toFixed(0)} %`,
      verdict(ratio <= bound),
    ]),
  );
  const most = Math.max(...seen.map(({ peakMiB }) => peakMiB));
  say(
    `\nMost RSS above that at the begin of a phase: ${digits(most)} MiB; the bound is 300 MiB, ${verdict(most <= 300)}.\n`,
  );
}
