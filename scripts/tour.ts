/**
 * Shows what the exporter does, in two minutes, without a key and without the network: npm run tour
 *
 * It starts the simulated service and the exporter as a user would, lets something happen, and prints what the metrics say.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { end, endAll, logged, run } from './programs.ts';

const work = mkdtempSync(join(tmpdir(), 'tour-'));
const file = join(work, 'config.yaml');

/** Polls faster than a real plan would suggest, so that nobody waits. */
const CONFIG = `api: {base_url: "@URL@", key: sandbox}
chains:
  mainnet: {v1_base_url: "@URL@"}
machines: {interval: 5s, expected: [node-a, node-b]}
slashings: {interval: 5s}
validators: {watch: ["12340-12349"]}
`;

async function output(child: ChildProcess): Promise<string> {
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  child.stderr?.resume();
  await once(child, 'close');
  return text;
}

function title(text: string): void {
  process.stdout.write(`\n== ${text}\n`);
}

function say(text: string): void {
  process.stdout.write(`${text.trimEnd()}\n`);
}

let port = '';

async function scrape(): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

/** Prints the lines once they are there, and how long that took. Returns them. */
async function shows(...lines: RegExp[]): Promise<string[]> {
  const began = performance.now();
  for (;;) {
    const text = await scrape();
    const found = lines.map((line) => line.exec(text)?.[0]);
    if (found.every((line) => line !== undefined)) {
      for (const line of found) say(`   ${line}`);
      say(`   (after ${((performance.now() - began) / 1000).toFixed(1)} s)`);
      return found;
    }
    if (performance.now() - began > 60_000) throw new Error(`not seen within a minute: ${lines.join(' ')}`);
    await delay(200);
  }
}

async function start(): Promise<ChildProcess> {
  const child = run(work, 'serve', '--config.file=config.yaml', '--web.listen-address=127.0.0.1:0');
  port = await logged(child, 'port');
  return child;
}

async function tour(): Promise<void> {
  const began = performance.now();
  const sandbox = run(work, 'sandbox', '--web.listen-address=127.0.0.1:0');
  const url = await logged(sandbox, 'url');
  const order = (path: string): Promise<Response> => fetch(`${url}/-/${path}`, { method: 'POST' });
  writeFileSync(file, CONFIG.replaceAll('@URL@', url), { mode: 0o600 });

  title('One file, and `check` says what it costs before anything is sent');
  say(readFileSync(file, 'utf8'));
  say(await output(run(work, 'check', '--config.file=config.yaml')));

  title('Machines, chain, returns and committees as metrics');
  let exporter = await start();
  await shows(
    /^beaconchain_machine_peers\{.*$/m,
    /^beaconchain_finalized_epoch\{.*$/m,
    /^beaconchain_daily_return_apr_ratio\{.*$/m,
    /^beaconchain_sync_committee_period\{.*$/m,
  );

  title('A validator that you watch is slashed: counted once, from the head');
  await order('slash?validators=12340');
  // A double vote, or now and then a surround vote.
  const [counted = ''] = await shows(
    /^beaconchain_attester_slashings_total\{.*\} [1-9].*$/m,
    /^beaconchain_watched_validators_slashed\{.*\} [1-9].*$/m,
  );

  title('kill -9, and a start: no counter steps back, and nothing is asked twice');
  await end(exporter, 'SIGKILL');
  exporter = await start();
  const series = counted.slice(0, counted.lastIndexOf(' '));
  await shows(new RegExp(`^${series.replaceAll(/[{}]/g, '\\$&')} [1-9].*$`, 'm'));

  title('The service fails: the exporter says so, and keeps what it knows');
  await order('fail');
  await shows(/^beaconchain_source_up\{source="machines"\} 0$/m, /^beaconchain_machine_peers\{.*$/m);
  await order('recover');
  await shows(/^beaconchain_source_up\{source="machines"\} 1$/m);

  title('A smaller plan: the intervals become longer, so that the quota lasts until it renews');
  await order('plan?plan=free_trial');
  await shows(/^beaconchain_ratelimit_limit\{.*month.*$/m, /^beaconchain_budget_stretch_ratio\{.*\} (?!1$)[\d.e+]+$/m);

  await end(exporter, 'SIGTERM');
  title(`${Math.round((performance.now() - began) / 1000)} seconds. Next: npm run demo, and http://localhost:10032`);
}

function leaveNothing(): void {
  endAll();
  rmSync(work, { recursive: true, force: true, maxRetries: 5 });
}

// Whoever has seen enough presses Ctrl-C.
process.once('SIGINT', () => {
  leaveNothing();
  process.exit(130);
});

try {
  await tour();
} finally {
  leaveNothing();
}
