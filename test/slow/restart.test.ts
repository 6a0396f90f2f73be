import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { between, seedOf } from '../../src/lib/random.ts';
import { ask, scrape } from '../support/ask.ts';
import { isKeptCounter } from '../support/exposition-text.ts';
import type { FaultServer } from '../support/fault-server.ts';
import { temporaryFolder } from '../support/files.ts';
import { portOf, startExporter, waitFor } from '../support/program.ts';
import { startService } from '../support/service.ts';

const KEY = 'sandbox';
const SEED = seedOf('restart');
/** Chains of restarts that run side by side, and the kills of each. */
const LINES = 5;
const KILLS = 10;
/** A process starts with a second of silence, because the one before may have used up the limit of that second. */
const MIN_LIFE_MS = 950;
const MAX_LIFE_MS = 2_000;

/** Writes the configuration that all lives of one line have, and returns its path. */
function configFor({ url }: FaultServer): string {
  const folder = temporaryFolder();
  const config = [
    `api: {base_url: "${url}"}`,
    'budget: {plan: scale}',
    `chains: {mainnet: {v1_base_url: "${url}"}, hoodi: {v1_base_url: "${url}/hoodi"}}`,
    'machines: {interval: 1s, chain: mainnet}',
    'slashings: {interval: 1s}',
    'web: {listen_address: "127.0.0.1:0"}',
    'log: {format: json}',
    `state: {dir: "${join(folder, 'state')}"}`,
  ];
  const file = join(folder, 'config.yaml');
  writeFileSync(file, config.join('\n'));
  return file;
}

/** What one scrape showed, by series. */
interface Shown {
  /** Everything that must never be less. */
  readonly counters: ReadonlyMap<string, number>;
  readonly lastSeen: ReadonlyMap<string, number>;
  readonly machineValues: ReadonlyMap<string, number>;
  readonly attempts: ReadonlyMap<string, number>;
  readonly failures: ReadonlyMap<string, number>;
}

/** A thousand scrapes are read here: by lines, as a series is the same text each time. */
function read(text: string): Shown {
  const counters = new Map<string, number>();
  const others = {
    last_seen_timestamp_seconds: new Map(),
    cpu_cores: new Map(),
    source_attempts_total: new Map(),
    api_request_failures_total: new Map(),
  };
  let isCounted = false;
  for (const line of text.split('\n')) {
    const [, family] = /^# TYPE (\S+) /.exec(line) ?? [];
    if (family) isCounted = isKeptCounter(family);
    if (line === '' || line.startsWith('#')) continue;
    const end = line.lastIndexOf(' ');
    const [series, value] = [line.slice(0, end), Number(line.slice(end))];
    if (isCounted) counters.set(series, value);
    for (const [name, found] of Object.entries(others)) {
      if (series.startsWith(`beaconchain_${name}{`) || series.startsWith(`beaconchain_machine_${name}{`)) {
        found.set(series, value);
      }
    }
  }
  return {
    counters,
    lastSeen: others.last_seen_timestamp_seconds,
    machineValues: others.cpu_cores,
    attempts: others.source_attempts_total,
    failures: others.api_request_failures_total,
  };
}

/** Takes what one scrape showed into the most that was ever shown; nothing of it may have become less. */
function expectNoStepBack(most: Map<string, number>, now: ReadonlyMap<string, number>, when: string): void {
  for (const [series, value] of most) {
    expect(now.get(series) ?? Number.NEGATIVE_INFINITY, `${series} ${when}`).toBeGreaterThanOrEqual(value);
  }
  for (const [series, value] of now) most.set(series, value);
}

function onceADay({ requests }: FaultServer): unknown[] {
  return requests.filter(({ path }) => path.includes('/api/v2/ethereum/'));
}

/** Kills the program at random moments, and looks at what the next one shows from its first moment on. */
async function runLine(line: number): Promise<void> {
  const api = await startService(KEY);
  const config = configFor(api);
  const counters = new Map<string, number>();
  const lastSeen = new Map<string, number>();
  let last: Shown | undefined;
  for (let life = 0; life <= KILLS; life += 1) {
    const program = startExporter(['serve', `--config.file=${config}`], { BEACONCHAIN_API_KEY: KEY });
    const port = await portOf(program);
    const until = performance.now() + between(MIN_LIFE_MS, MAX_LIFE_MS, SEED, line, life);
    const first = read(await scrape(port));
    const when = `in life ${life} of line ${line}`;
    // What was known is shown at once, as old as it is.
    expectNoStepBack(counters, first.counters, `at the first scrape ${when}`);
    expectNoStepBack(lastSeen, first.lastSeen, `at the first scrape ${when}`);
    expect([...first.machineValues.keys()], when).toEqual(
      expect.arrayContaining([...(last?.machineValues.keys() ?? [])]),
    );
    expect((await ask(port, '/-/ready')).status, when).toBe(life > 0 ? 200 : 503);
    last = await waitFor(async () => {
      const shown = read(await scrape(port));
      expectNoStepBack(counters, shown.counters, when);
      expectNoStepBack(lastSeen, shown.lastSeen, when);
      // The first one lives until it knows everything.
      if (life === 0) expect(Math.min(...shown.attempts.values())).toBeGreaterThan(0);
      if (performance.now() < until) throw new Error('lives on');
      return shown;
    });
    await program.stop('SIGKILL');
    expect([...last.failures].filter(([, value]) => value > 0)).toEqual([]);
    // Each day's and period's data is asked for once, and never again.
    expect(onceADay(api), when).toHaveLength(4);
  }
}

describe('slow/restart', () => {
  it('after kill -9 at 50 random moments nothing steps back, and nothing is asked for that is not due', async () => {
    await Promise.all(Array.from({ length: LINES }, (_, line) => runLine(line)));
  });
});
