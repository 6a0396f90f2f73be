/**
 * Takes the pictures of the dashboards: node scripts/dashboard-pictures.ts
 * Draws all dashboards, to look at them: node scripts/dashboard-pictures.ts --all=/tmp/looks
 *
 * A Prometheus gets a simulated day and the results of the rules for it. Grafana's components then draw the JSON in
 * Chromium.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { buildSync } from 'esbuild';
import { parse, stringify } from 'yaml';
import { RULE_FILES } from '../deploy/grafana/src/rules.ts';
import { freePort } from '../test/support/network/ports.ts';
import { launchChromium } from '../test/support/tools/chromium.ts';
import { PROMETHEUS, PROMTOOL } from '../test/support/tools/tools.ts';
import { END, START, simulatedDay } from './dashboard-pictures/day.ts';

const ROOT = join(import.meta.dirname, '..');
const DASHBOARDS = join(ROOT, 'deploy/grafana/dashboards');
const PAGE = join(import.meta.dirname, 'dashboard-pictures/page');
/** Higher than any dashboard: Grafana draws a table when it is in sight. */
const VIEWPORT = { width: 1_280, height: 5_000 };
/** With fewer the yellow and the orange of two lines would be one. */
const COLORS = 40;

/** Each begins with the panel with the title `since`, and ends above that with the title `until`. */
const PICTURES = [
  { file: 'fleet', dashboard: 'beaconchain-fleet', until: 'Beacon nodes' },
  { file: 'overview', dashboard: 'beaconchain-fleet', until: 'Load' },
  {
    file: 'validators',
    dashboard: 'beaconchain-validators',
    since: 'Rewards of watched validators',
    until: 'Return',
  },
  { file: 'returns', dashboard: 'beaconchain-returns', until: 'Return by layer' },
  { file: 'exporter', dashboard: 'beaconchain-exporter', until: 'Requests per day' },
] as const;

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

function promtool(...args: readonly string[]): void {
  const { status, stderr } = spawnSync(PROMTOOL.command, ['tsdb', 'create-blocks-from', ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`promtool: ${stderr}`);
}

/** Runs work while a Prometheus that scrapes nothing serves the blocks that it finds at its start. */
async function withPrometheus(data: string, work: (url: string) => void | Promise<void>): Promise<void> {
  const address = `127.0.0.1:${await freePort()}`;
  const flags = [`--storage.tsdb.path=${data}`, '--storage.tsdb.retention.time=50y', `--web.listen-address=${address}`];
  const program = spawn(PROMETHEUS.command, ['--config.file=/dev/null', ...flags], { stdio: 'ignore' });
  const ended = once(program, 'exit');
  try {
    while (!(await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok) await setTimeout(50);
    await work(`http://${address}`);
  } finally {
    program.kill();
    await ended;
  }
}

/** Adds what the rules would have recorded, and the alerts that fire at the end of the day. */
async function addRules(data: string): Promise<void> {
  const all = RULE_FILES.flatMap(
    (file) => (parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] }).groups,
  );
  const rules = all.flatMap((group) => group.rules);
  let waiting = rules.filter(({ record }) => record !== undefined);
  while (waiting.length > 0) {
    const unknown = waiting.map(({ record = '' }) => record);
    // A rule that keeps its own last value needs none of it here.
    const ready = waiting.filter(({ record: own, expr }) =>
      unknown.every((name) => name === own || !expr.includes(name)),
    );
    if (ready.length === 0) throw new Error(`rules that need each other: ${unknown.join(', ')}`);
    await record(data, ready, START);
    waiting = waiting.filter((rule) => !ready.includes(rule));
  }
  await record(data, rules.flatMap(alertSeries), END - 600_000);
}

/** promtool does not evaluate alerts, so they are written as rules that record the series of Prometheus on them. */
function alertSeries({ alert, expr, for: wait = '1m', labels }: Rule): Rule[] {
  if (alert === undefined) return [];
  const minutes = Number.parseInt(wait, 10) * (wait.endsWith('h') ? 60 : 1);
  const firing = `((${expr}) and count_over_time((${expr})[${wait}:1m]) >= ${minutes})`;
  const series = { ...labels, alertname: alert };
  return [
    { record: 'ALERTS', expr: `${firing} ^ 0`, labels: { ...series, alertstate: 'firing' } },
    { record: 'ALERTS_FOR_STATE', expr: `min_over_time(timestamp(${expr})[1d:5m])`, labels: series },
  ];
}

function record(data: string, rules: readonly Rule[], start: number): Promise<void> {
  const file = join(data, '../rules.yaml');
  writeFileSync(file, stringify({ groups: [{ name: 'pictures', rules }] }));
  const span = [`--start=${start / 1000}`, `--end=${END / 1000}`, '--eval-interval=60s'];
  return withPrometheus(data, (url) => promtool('rules', `--url=${url}`, `--output-dir=${data}`, ...span, file));
}

/** Builds the page that draws a dashboard. Returns its address. */
function buildPage(folder: string): string {
  const dataurls = ['woff2', 'woff', 'svg', 'ttf'].map((type) => [`.${type}`, 'dataurl'] as const);
  buildSync({
    entryPoints: [join(PAGE, 'main.tsx'), join(PAGE, 'page.css')],
    bundle: true,
    outdir: folder,
    loader: Object.fromEntries(dataurls),
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  });
  // main.css is that of the packages.
  const styles = ['main.css', 'page.css'].map((file) => `<link rel="stylesheet" href="${file}">`).join('');
  writeFileSync(
    join(folder, 'page.html'),
    `<!doctype html><meta charset="utf-8">${styles}<body><script src="main.js"></script>`,
  );
  return `file://${folder}/page.html`;
}

async function draw(
  pictures: readonly { file: string; dashboard: string; since?: string; until?: string }[],
  page: string,
  url: string,
) {
  const browser = await launchChromium();
  try {
    for (const { file, dashboard, since, until } of pictures) {
      const tab = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'dark' });
      const failed = new Promise<never>((_, reject) => tab.on('pageerror', reject));
      const json = JSON.parse(readFileSync(join(DASHBOARDS, `${dashboard}.json`), 'utf8'));
      // Ages are counted from the end of the simulated day.
      await tab.clock.setFixedTime(END);
      await tab.addInitScript((given) => Object.assign(globalThis, { given }), {
        dashboard: json,
        url,
        now: END,
        since,
        until,
      });
      await tab.goto(page);
      await Promise.race([tab.waitForFunction('window.isDrawn'), failed]);
      writeFileSync(`${file}.png`, withPalette(await tab.locator('main').screenshot()));
      await tab.close();
    }
  } finally {
    await browser.close();
  }
}

/** With a palette a PNG is a third as large. */
function withPalette(png: Buffer): Buffer {
  const upng = createRequire(join(PAGE, 'package.json'))('upng-js');
  const image = upng.decode(png);
  return Buffer.from(upng.encode(upng.toRGBA8(image), image.width, image.height, COLORS));
}

const { values: flags } = parseArgs({ options: { all: { type: 'string' } } });
const target = flags.all ?? join(ROOT, 'docs/images');
const names = readdirSync(DASHBOARDS).map((file) => basename(file, '.json'));
const pictures = flags.all === undefined ? PICTURES : names.map((dashboard) => ({ file: dashboard, dashboard }));
const folder = mkdtempSync(join(tmpdir(), 'pictures-'));
const data = join(folder, 'data');
try {
  mkdirSync(target, { recursive: true });
  const page = buildPage(folder);
  writeFileSync(join(folder, 'day.om'), `${(await simulatedDay()).join('\n')}\n# EOF\n`);
  promtool('openmetrics', '--quiet', '--max-block-duration=744h', join(folder, 'day.om'), data);
  await addRules(data);
  const inTarget = pictures.map((picture) => ({ ...picture, file: join(target, picture.file) }));
  await withPrometheus(data, (url) => draw(inTarget, page, url));
} finally {
  rmSync(folder, { recursive: true });
}
