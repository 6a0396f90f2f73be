import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Plan, splitSpan } from '../src/backfill/plan.ts';
import { folderOf, Store } from '../src/backfill/store.ts';
import { createFleet, newestPushes, PROCESSES } from '../src/sandbox/machines-data.ts';
import { recordOf } from '../src/sandbox/machines-records.ts';
import type { History } from '../src/sources/history.ts';
import { machinesHistory } from '../src/sources/machines/history.ts';
import { machinesOptions } from '../test/support/machine-records.ts';
import { build, PROGRAM } from './built.ts';
import { Child } from './child.ts';
import { say, table, verdict } from './report.ts';

const MACHINES = 50;
/** All 31 take 17 GB of disk and a while; a day more costs no more memory. */
const DAYS = Number(process.env['BENCH_BACKFILL_DAYS'] ?? 3);
const TARGET_MIB = 300;
const HALF_DAY = 43_200;
const TELL =
  'data:text/javascript,process.on("exit",()=>process.stderr.write("rss "+process.resourceUsage().maxRSS+" "))';

/** Fifty machines at full resolution as if read before, told by the program; and a short run against the simulated service. */
export async function benchBackfill(): Promise<void> {
  build();
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const output = join(folder, 'past.om');
  const flags = [
    '--source=machines',
    '--full-resolution',
    `--output=${output}`,
    '--label=job=beaconchain',
    '--label=instance=exporter:10032',
  ];
  const records = await readBefore(output, flags);
  const written = await run([...flags, '--resume'], folder, {});
  const files = readdirSync(folder).filter((name) => name.startsWith('past.om'));
  const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const samples = Number(/(\d+) samples/.exec(written.text)?.[1]);
  const blocks = makeBlocks(folder, files);
  const fetched = await runAgainstService(folder);
  rmSync(folder, { recursive: true });
  table(
    `Backfill of ${MACHINES} machines over ${DAYS} days at full resolution; the target is ${TARGET_MIB} MiB`,
    ['records', 'samples', 'files', 'size', 'takes', 'samples/s', 'most RSS', 'promtool', 'its most RSS', ''],
    [
      [
        `${records}`,
        `${samples}`,
        `${files.length}`,
        `${(bytes / 1e6).toFixed(0)} MB`,
        `${written.seconds.toFixed(0)} s`,
        (samples / written.seconds).toFixed(0),
        `${written.rssMiB.toFixed(0)} MiB`,
        `${blocks.seconds.toFixed(0)} s`,
        blocks.rss,
        verdict(written.rssMiB <= TARGET_MIB),
      ],
    ],
  );
  table(
    'Reading, five machines over a day at full resolution',
    ['requests, about', 'takes', 'most RSS'],
    [[fetched.requests, `${fetched.seconds.toFixed(0)} s`, `${fetched.rssMiB.toFixed(0)} MiB`]],
  );
}

/** Leaves what an interrupted run would leave that has read everything. Returns the number of records. */
async function readBefore(output: string, flags: readonly string[]): Promise<number> {
  const now = Math.floor(Date.now() / 1000);
  const given = { source: 'machines', 'full-resolution': true, label: labelsOf(flags) } as const;
  const spans = splitSpan({ start: now - DAYS * 86_400, end: now }, HALF_DAY);
  const slices = spans.map((range, id) => ({ id, source: 'machines', range, expected: 1 }));
  using store = await Store.open(folderOf(output));
  const history = machinesHistory(machinesOptions()) as History;
  const plan: Plan = { version: 3, flags: given, now, end: now, slices, written: [] };
  store.save(plan);
  const fleet = createFleet('bench', MACHINES, now * 1000);
  let records = 0;
  for (const [i, slice] of slices.entries()) {
    const { start, end } = spans[i] ?? { start: 0, end: 0 };
    for (let from = end - 60; from >= start; from -= 60) {
      const page = PROCESSES.flatMap((process) => {
        const window = { oldest: from * 1000, newest: from * 1000 + 59_999, gap: 1 };
        return newestPushes(fleet.rings[process], process, window, undefined, 1_000).map((push) => {
          const record = recordOf(process, push) as { timestamp: number };
          return [process, { ...record, timestamp: record.timestamp / 1000 }];
        });
      });
      records += page.length;
      const next = from - 60 >= start ? 'cursor' : null;
      store.keep(slice, history, { next, left: 0, bad: 0, records: page });
    }
  }
  return records;
}

function labelsOf(flags: readonly string[]): string[] {
  return flags.flatMap((flag) => (flag.startsWith('--label=') ? flag.slice('--label='.length) : []));
}

interface Ran {
  readonly text: string;
  readonly seconds: number;
  readonly rssMiB: number;
}

async function run(flags: readonly string[], cwd: string, env: Record<string, string>): Promise<Ran> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--import', TELL, PROGRAM, 'backfill', ...flags], {
    cwd,
    env: { ...process.env, BEACONCHAIN_API_KEY: 'sandbox', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(text);
  return { text, seconds: (performance.now() - began) / 1000, rssMiB: Number(/rss (\d+) $/.exec(text)?.[1]) / 1024 };
}

function makeBlocks(folder: string, files: readonly string[]): { seconds: number; rss: string } {
  const began = performance.now();
  let most = 0;
  for (const file of files) {
    const args = ['tsdb', 'create-blocks-from', 'openmetrics', '-q', '--max-block-duration=24h', file, 'data'];
    const { status, stderr } = spawnSync('/usr/bin/time', ['-f', '%M', 'promtool', ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (status !== 0) {
      say(`\nno blocks: ${stderr}\n`);
      return { seconds: Number.NaN, rss: '' };
    }
    most = Math.max(most, Number(stderr) / 1024);
  }
  return { seconds: (performance.now() - began) / 1000, rss: `${most.toFixed(0)} MiB` };
}

async function runAgainstService(folder: string): Promise<Ran & { requests: string }> {
  const api = new Child<{ url: string }>('api-server.ts', { args: ['5'] });
  const { url } = await api.message();
  const config = join(folder, 'config.yaml');
  mkdirSync(join(folder, 'state'));
  writeFileSync(
    config,
    `api: {base_url: "${url}"}\nchains: {mainnet: {v1_base_url: "${url}"}}\nstate: {dir: "${folder}/state"}\n`,
  );
  const start = Math.floor(Date.now() / 1000) - 86_400;
  const flags = [
    `--config.file=${config}`,
    '--source=machines',
    '--full-resolution',
    `--output=${join(folder, 'read.om')}`,
  ];
  const ran = await run([...flags, `--start=${start}`], folder, {});
  await api.stop();
  return { ...ran, requests: /about (\d+)/.exec(ran.text)?.[1] ?? '' };
}
