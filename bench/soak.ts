import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fault, FaultServer } from '../test/support/fault-server.ts';
import {
  CONNECTION_FAULTS,
  HANGS,
  IMPOSSIBLE_VALUES,
  refusal,
  STORMS,
  tooMany,
  UNREADABLE,
} from '../test/support/faults.ts';
import { hastyClock } from '../test/support/haste.ts';
import { Child } from './child.ts';
import { say, table, verdict } from './report.ts';
import type { SoakOptions, Taken } from './soak-exporter.ts';
import { digits, summary } from './stats.ts';

// A day against a service with which something goes wrong for five minutes of every twenty. Without an argument it takes
// 20 minutes; `--hours=0.1` shows in 5 s that it works.

const SPEED = 72;
const MINUTE = 60_000;
const [hours = 24] = process.argv.slice(2).map((flag) => Number(/^--hours=([\d.]+)$/.exec(flag)?.[1] ?? Number.NaN));
if (!(hours > 0)) throw new RangeError('expected --hours=NUMBER');

const FAULTS: Readonly<Record<string, Fault>> = {
  ...CONNECTION_FAULTS,
  ...HANGS,
  ...UNREADABLE,
  ...IMPOSSIBLE_VALUES,
  ...STORMS,
  'status 401': refusal(401),
  'status 403': refusal(403),
  'status 429': tooMany({ 'ratelimit-reset': '120' }),
};

/** What was seen in one of the spans that the day is told in. */
interface Span extends Taken {
  readonly scrapes: number;
  /** 99th percentile. */
  readonly scrapeMs: number;
}

const SPANS = 24;
const folder = mkdtempSync(join(tmpdir(), 'soak-'));
const clock = hastyClock(SPEED);
const service = new FaultServer({ now: clock.now, machines: 100, plan: { perSecond: 50 } });
await service.listen();
const options: SoakOptions = {
  speed: SPEED,
  start: clock.start,
  url: `http://127.0.0.1:${service.port}`,
  key: service.sandbox.key,
  dir: folder,
  everyMs: (hours * 60 * MINUTE) / SPANS,
};
const child = new Child<Taken>('soak-exporter.ts', { args: [JSON.stringify(options)], node: ['--expose-gc'] });
const { port } = await child.message();

const stop = new AbortController();
const agent = new Agent({ keepAlive: true });
let times: number[] = [];
let last = '';
const loops = [makeTrouble(), scrapeOn()];
const spans: Span[] = [];
while (spans.length < SPANS) {
  const taken = await child.message();
  const sorted = times.toSorted((a, b) => a - b);
  spans.push({ ...taken, scrapes: sorted.length, scrapeMs: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN });
  times = [];
}
stop.abort();
await Promise.all(loops);
await child.stop();
agent.destroy();
await service.close();
rmSync(folder, { recursive: true });
report();

/** Five minutes of every fault in turn, and then fifteen of peace. */
async function makeTrouble(): Promise<void> {
  while (!stop.signal.aborted) {
    for (const fault of Object.values(FAULTS)) {
      await service.suffer(fault);
      await pass(5);
      await service.suffer(undefined);
      await pass(15);
      // Only this program remembers them.
      service.requests.length = 0;
      if (stop.signal.aborted) return;
    }
  }
}

async function scrapeOn(): Promise<void> {
  while (!stop.signal.aborted) {
    times.push(await scrape());
    await pass(0.25);
  }
}

async function pass(minutes: number): Promise<void> {
  await clock.sleep(minutes * MINUTE, stop.signal).catch(() => undefined);
}

/** @throws Error where it does not answer 200: then the run has failed. */
function scrape(): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    request({ host: '127.0.0.1', port, path: '/metrics', agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject).on('end', () => {
        last = text;
        resolve(performance.now() - began);
      });
    })
      .on('error', reject)
      .end();
  });
}

function report(): void {
  table(
    `${hours} h at ${SPEED} times the speed, 100 machines and one chain more, something wrong in a quarter of the time`,
    ['hour', 'RSS', 'heap', 'handles', 'open files', 'event-loop delay p99', 'longest', 'scrapes', 'scrape p99'],
    spans.map((span, i) => [
      digits(((i + 1) * hours) / SPANS),
      `${digits(span.rssMiB)} MiB`,
      `${digits(span.heapMiB)} MiB`,
      `${span.handles}`,
      `${span.files}`,
      `${digits(span.delayMs)} ms`,
      `${digits(span.longestDelayMs)} ms`,
      `${span.scrapes}`,
      `${digits(span.scrapeMs)} ms`,
    ]),
  );
  if (hours >= 24) judge();
  const failures = last.matchAll(/^beaconchain_api_request_failures_total\{.*reason="(\w+)".*\} (\d+)$/gm);
  const byReason = new Map<string, number>();
  for (const [, reason = '', count] of failures) byReason.set(reason, (byReason.get(reason) ?? 0) + Number(count));
  const requests = [...last.matchAll(/^beaconchain_api_requests_total\{.*\} (\d+)$/gm)];
  const sum = requests.reduce((total, [, count]) => total + Number(count), 0);
  say(`\nRequests: ${sum}. Failures: ${[...byReason].map(([reason, n]) => `${reason} ${n}`).join(', ')}.\n`);
}

/** Whether it is flat. */
function judge(): void {
  // A sixth of the day is the warm-up: by then code is compiled and buffers have their size.
  const early = spans.slice(SPANS / 6, SPANS / 2);
  const late = spans.slice(-SPANS / 3);
  const growth = (of: (span: Span) => number): number => summary(late.map(of)).median / summary(early.map(of)).median;
  table(
    'Median of the last third against that of the second sixth to the half',
    ['', 'growth', 'bound', ''],
    (
      [
        ['heap', growth(({ heapMiB }) => heapMiB), 1.1],
        ['RSS', growth(({ rssMiB }) => rssMiB), 1.15],
        ['handles', growth(({ handles }) => handles), 1.25],
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
}
