import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FaultServer } from '../test/support/fault-server.ts';
import { hastyClock } from '../test/support/haste.ts';
import { forgetPeak, peakMiB } from './peak.ts';
import { say } from './report.ts';
import { Exporters, HEADERS } from './soak/exporters.ts';
import { countPolls, endedPolls, missedPolls } from './soak/polls.ts';
import { reportDay, type Seen, type Span } from './soak/report.ts';
import { Scraper } from './soak/scraper.ts';
import { brokenFiles } from './soak/state-files.ts';
import { TightDisk } from './soak/tight-disk.ts';
import { troubles } from './soak/troubles.ts';
import type { Trouble, World } from './soak/world.ts';
import type { Left, Order, Taken } from './soak-exporter.ts';
import { summary } from './stats.ts';

// A day in which something goes wrong for five minutes of every eighteen: with the service, the disk, reloads, the size of
// bodies or the clients. Without an argument it takes 20 minutes; `--hours=0.1` shows in some seconds that it works, and
// `--only=REGEX` picks troubles by kind and name.

const SPEED = 72;
const MINUTE = 60_000;
/** Minutes of a trouble, of the peace after it, and of both with what is looked at: all troubles fit into a day. */
const [TROUBLE, PEACE, PERIOD] = [5, 8, 18];
const SPANS = 24;
const { hours, only } = argumentsOf(process.argv.slice(2));

const folder = mkdtempSync(join(tmpdir(), 'soak-'));
const disk = new TightDisk(8);
process.on('exit', () => {
  disk.close();
  rmSync(folder, { recursive: true, force: true });
});
// Nothing stays mounted.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const state = join(disk.dir, 'state');
const clock = hastyClock(SPEED);
const service = new FaultServer({ now: clock.now, machines: 100, plan: { perSecond: 50 } });
await service.listen();
const url = `http://127.0.0.1:${service.port}`;
const silent = createServer((socket) => socket.resume().on('error', () => undefined)).listen(0, '127.0.0.1');
await once(silent, 'listening');
silent.unref();
const exporters = new Exporters({
  folder,
  speed: SPEED,
  start: clock.start,
  key: service.sandbox.key,
  everyMs: (hours * 60 * MINUTE) / SPANS,
  silentUrl: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
});

/** What must not be. */
const faults = new Map<string, number>();
let now = 'start';
const onFault = (what: string): void => {
  const line = `${now}: ${what}`;
  if (!faults.has(line)) process.stderr.write(`${line}\n`);
  faults.set(line, (faults.get(line) ?? 0) + 1);
};

const child = exporters.start(state, exporters.configure(url));
const { pid } = child.process;
const before: Left = await child.message();
const { port } = await child.message();
const spans: Span[] = [];
const seen: Seen[] = [];
const scraper = new Scraper(port, HEADERS, onFault);
const world: World = {
  service,
  disk,
  port,
  headers: HEADERS,
  weaken: (fault) => order({ disk: fault ?? 'well' }),
  configure: (settings) => void exporters.configure(url, settings),
  onFault,
};

const stop = new AbortController();
let told = 0;
child.process.on('message', (taken: Taken) => {
  if (stop.signal.aborted) return;
  const times = summary(scraper.times.slice(told));
  told = scraper.times.length;
  spans.push({ ...taken, scrapes: times.count, scrapeMs: times.p99 });
  if (spans.length === SPANS) stop.abort();
});
child.process.once('exit', (code) => {
  if (!stop.signal.aborted) throw new Error(`the exporter ended with ${code}: ${child.output.slice(-10_000)}`);
});
await Promise.all([makeTrouble(), scrapeOn(), watchFiles()]);
await end();
reportDay({ hours, speed: SPEED, spans, seen, looks: exporters.looks, text: scraper.text });
say(faults.size === 0 ? 'Nothing that must not be.\n' : `\nWhat must not be:\n${list(faults)}`);
process.exit(faults.size === 0 ? 0 : 1);

async function makeTrouble(): Promise<void> {
  const all = troubles(disk.isOwn, only);
  let pausedUntil = 0;
  for (let i = 0; !stop.signal.aborted; i += 1) {
    const trouble = all[i % all.length];
    if (!trouble) throw new RangeError('no such trouble');
    const isCalm = clock.monotonic() >= pausedUntil;
    if (trouble.pauses) pausedUntil = clock.monotonic() + trouble.pauses * MINUTE;
    await suffer(trouble, isCalm);
  }
}

/** One trouble, and peace. */
async function suffer(trouble: Trouble, isCalm: boolean): Promise<void> {
  const until = (minute: number): Promise<void> => pass(minute - (clock.monotonic() - began) / MINUTE);
  now = `${trouble.kind}, ${trouble.name}`;
  const end = new AbortController();
  const began = clock.monotonic();
  const scrapes = scraper.times.length;
  forgetPeak(pid);
  const usualMiB = peakMiB(pid);
  service.requests.length = 0;
  scraper.mayLack = trouble.mayLack;
  await scraper.scrape();
  const ended = endedPolls(scraper.text);
  const making = trouble.make(world, end.signal);
  await pass(1);
  if (trouble.kind !== 'service' && !trouble.mayLack) await lookAtCrash();
  await until(TROUBLE);
  const minutes = (clock.monotonic() - began) / MINUTE;
  const polls = countPolls(service.requests);
  end.abort();
  await making;
  if (stop.signal.aborted) return;
  if (trouble.isPolled && isCalm) expectPolls(polls, trouble.mayLack);
  // What cannot be written is not shown.
  if (['reloads', 'clients'].includes(trouble.kind) && isCalm) {
    const polled = Object.entries(endedPolls(scraper.text));
    const more = polled.map(([what, count]) => [what, count - (ended[what] ?? 0)]);
    expectPolls(Object.fromEntries(more), trouble.mayLack, 'polls of');
  }
  service.requests.length = 0;
  await pass(1);
  scraper.mayLack = undefined;
  await pass(PEACE - 1);
  const times = scraper.times.slice(scrapes);
  seen.push({ kind: trouble.kind, minutes, polls, times, peakMiB: peakMiB(pid) - usualMiB });
  if (trouble.pauses || !isCalm) await until(PERIOD);
  if (stop.signal.aborted || trouble.pauses || !isCalm) return;
  now += ', afterwards';
  expectPolls(countPolls(service.requests));
  for (const line of missedPolls(scraper.text)) onFault(line);
  await lookAtCrash();
  await until(PERIOD);
}

function expectPolls(polls: Readonly<Record<string, number>>, except?: RegExp, what = 'requests for'): void {
  for (const [source, count] of Object.entries(polls)) {
    if (!(count >= 2) && !except?.test(`chain="${source.split(' ')[1]}"`)) onFault(`${count} ${what} ${source}`);
  }
}

async function lookAtCrash(): Promise<void> {
  for (const line of await exporters.lookAtCrash(state, scraper)) onFault(line);
}

async function scrapeOn(): Promise<void> {
  while (!stop.signal.aborted) {
    await scraper.scrape();
    await pass(0.25);
  }
}

/** At each moment the files are whole. */
async function watchFiles(): Promise<void> {
  while (!stop.signal.aborted) {
    for (const line of brokenFiles(state)) onFault(line);
    await pass(0.1);
  }
}

/** Nothing is left open, and the next start shows what was shown. */
async function end(): Promise<void> {
  now = 'end';
  await scraper.scrape();
  scraper.close();
  child.process.removeAllListeners('message');
  order({ isOver: true });
  const left = await child.message();
  if (`${left.handles.toSorted()}` !== `${before.handles.toSorted()}`) {
    onFault(`handles: ${left.handles} are left, ${before.handles} were there before`);
  }
  if (left.files > before.files) onFault(`files: ${left.files} are open, ${before.files} were before`);
  for (const line of await exporters.lookAtStart(state, scraper.most)) onFault(`after a restart: ${line}`);
  await service.close();
}

function order(what: Order): void {
  child.process.send(what);
}

async function pass(minutes: number): Promise<void> {
  if (minutes > 0) await clock.sleep(minutes * MINUTE, stop.signal).catch(() => undefined);
}

function argumentsOf(flags: readonly string[]): { hours: number; only: RegExp | undefined } {
  const given = new Map(flags.map((flag) => /^--(hours|only)=(.+)$/.exec(flag)?.slice(1) as [string, string]));
  const hours = Number(given.get('hours') ?? 24);
  const only = given.get('only');
  if (!(hours > 0) || given.has('')) throw new RangeError('expected --hours=NUMBER or --only=REGEX');
  return { hours, only: only === undefined ? undefined : new RegExp(only) };
}

function list(lines: ReadonlyMap<string, number>): string {
  return [...lines].map(([line, count]) => `- ${line}${count > 1 ? ` (${count} times)` : ''}\n`).join('');
}
