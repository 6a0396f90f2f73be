import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BackfillRuns, FAST, KEY, promtoolLines } from '../../support/backfill.ts';
import type { Respond } from '../../support/fault-server.ts';
import { temporaryFolder } from '../../support/files.ts';
import { machinesPage, systemRecord } from '../../support/machine-records.ts';
import { portOf, startServe, waitFor } from '../../support/program.ts';
import { type Prometheus, startPrometheus } from '../../support/prometheus.ts';
import { startService } from '../../support/service.ts';
import { areMissing, PROMETHEUS, PROMTOOL, runTool } from '../../support/tools.ts';

/** As the documentation joins past and present: the labels that the target has after relabelling. */
const RELABELLED = {
  scraping: {
    relabel_configs: [
      { target_label: 'job', replacement: 'beaconchain' },
      { target_label: 'instance', replacement: 'exporter:10032' },
    ],
  },
} as const;
const JOIN = ['--label=job=beaconchain', '--label=instance=exporter:10032'] as const;
const USER_SECONDS = 'beaconchain_machine_cpu_user_seconds_total';
const SCRAPES = 5;

/** Does what a run printed, with this folder for the blocks. */
function makeBlocks(output: string, data: string): void {
  for (const words of promtoolLines(output)) {
    words.pop();
    expect(runTool(PROMTOOL, [...words, data], '')).toMatchObject({ status: 0, stderr: '' });
  }
}

/** The counters of machines that stepped back within three hours. */
async function steppingBack(prometheus: Prometheus): Promise<string[]> {
  const counters = await prometheus.query('count by (__name__) ({__name__=~"beaconchain_machine_.+_total"})');
  const names = counters.map(({ metric }) => metric['__name__'] ?? '');
  expect(names.length).toBeGreaterThan(5);
  const stepping = await Promise.all(names.map((name) => prometheus.query(`resets(${name}[3h]) > 0`)));
  return names.filter((_, i) => stepping[i]?.length !== 0);
}

/** The most that rate() shows in the last hour, in cores. */
async function mostCores(prometheus: Prometheus): Promise<number> {
  const most = await prometheus.query(`max(max_over_time(rate(${USER_SECONDS}[10m])[1h:1s]))`);
  return Number(most[0]?.value[1] ?? Number.NaN);
}

const MACHINES = ['node-a', 'node-b'] as const;
/** While it is scraped, records come so much later than they were made. */
const LATE_SECONDS = 200;
const CORES = 3;

/** Machines that push every minute and use so many cores; their counters count from genesis. */
function pushing(isLate: () => boolean): Respond {
  return ({ path, body, at }, genuine) => {
    if (!path.endsWith('/machine-metrics')) return undefined;
    const { range } = JSON.parse(body) as { range: { timestamp: { start: number; end: number } } };
    const newest = at / 1000 - (isLate() ? LATE_SECONDS : 1);
    const { start, end } = range.timestamp;
    if (!Number.isInteger(start) || !Number.isInteger(end)) return { status: 400, body: '{}' };
    // A sweep finds the newest record of each machine, however late it is.
    const times = isLate() ? [lastPush(newest)] : pushesWithin(start, Math.min(end, newest));
    const records = times.flatMap((time) => MACHINES.map((machine, i) => recordOf(machine, time + i)));
    return { ...genuine(), body: JSON.stringify(machinesPage({ system: records.reverse() })) };
  };
}

function lastPush(time: number): number {
  return Math.floor(time / 60) * 60;
}

function pushesWithin(start: number, end: number): number[] {
  const first = lastPush(start + 59);
  return Array.from({ length: Math.max(0, Math.floor((end - first) / 60) + 1) }, (_, i) => first + 60 * i);
}

function recordOf(machine: string, time: number): unknown {
  const seconds = (time - 1_600_000_000) * CORES;
  return systemRecord({ machine, timestamp: time * 1000, cpu_node_user_seconds_total: seconds });
}

describe.skipIf(areMissing(PROMETHEUS, PROMTOOL))('system/end-to-end/seam', () => {
  it('past and present form one series without a step, by default; a later end is warned of', async () => {
    let isLate = true;
    const api = await startService(KEY, { ...FAST, request: pushing(() => isLate) });
    const runs = new BackfillRuns(api);
    const daemon = startServe(readFileSync(runs.config, 'utf8'), KEY);
    const port = await portOf(daemon);
    const data = join(temporaryFolder(), 'data');
    mkdirSync(data);
    const scraping = await startPrometheus({ exporter: port }, { ...RELABELLED, scrapeInterval: '1s', data });
    await waitFor(async () => {
      const [series] = await scraping.samples(`${USER_SECONDS}{machine="node-a"}`);
      expect(series?.values.length).toBeGreaterThanOrEqual(SCRAPES);
    });
    const present = await scraping.samples(USER_SECONDS);
    await scraping.program.stop();
    await daemon.stop();
    isLate = false;
    const damaged = join(temporaryFolder(), 'data');
    cpSync(data, damaged, { recursive: true });
    const flags = ['--source=machines', '--full-resolution', '--start=-2h', ...JOIN];
    const { stdout, stderr } = await runs.run(...flags);
    expect(stderr).toMatch(/^The backfill ends at .*, because the exporter first started at /m);
    makeBlocks(stdout, data);

    const later = new BackfillRuns(api, {}, runs.folder, 'later.om');
    const harmful = await later.run(...flags, '--end=now');
    expect(harmful.stderr).toMatch(/^Warning: .* counters step back/m);
    makeBlocks(harmful.stdout, damaged);
    const shown = await startPrometheus({}, { data: damaged });
    expect(await steppingBack(shown)).toEqual([USER_SECONDS]);
    expect(await mostCores(shown)).toBeGreaterThan(1_000 * CORES);

    const joined = await startPrometheus({}, { data });
    expect(await steppingBack(joined)).toEqual([]);
    expect(await mostCores(joined)).toBeLessThan(1.1 * CORES);
    for (const { metric, values } of present) {
      const selector = `${USER_SECONDS}{machine="${metric['machine']}"}`;
      const [series, ...others] = await joined.samples(selector, '3h');
      expect(others).toEqual([]);
      // What was scraped is still there, all that was backfilled is older, and little is missing between.
      const past = series?.values.slice(0, -values.length) ?? [];
      expect(series?.values.slice(-values.length)).toEqual(values);
      expect(past.length).toBeGreaterThan(100);
      const times = series?.values.map(([at]) => at) ?? [];
      expect(Math.max(...times.slice(1).map((at, i) => at - (times[i] ?? at)))).toBeLessThan(360 + 120);
    }
  });
});
