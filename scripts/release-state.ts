/**
 * Records what this version leaves behind, so that each later version is tested with it (test/upgrade/upgrade.test.ts):
 *
 *     node scripts/release-state.ts
 *
 * It runs the exporter with every source on the simulated service, and keeps its configuration, its state directory and its
 * last answer to a scrape in test/upgrade/versions/<version>. It takes up to seven minutes: proposals are counted when their
 * epoch is final.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { end, endAll, logged, run } from './programs.ts';

const ROOT = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const FOLDER = join(ROOT, 'test/upgrade/versions', version);

/** Everything that writes state is on. `@URL@` and `@STATE@` are put in at each use. */
const CONFIG = `api: {base_url: "@URL@", key: sandbox}
budget: {plan: auto, utilization: 0.9}
chains:
  mainnet: {v1_base_url: "@URL@"}
  hoodi: {v1_base_url: "@URL@/hoodi"}
machines:
  chain: mainnet
  chain_rules: [{match: "hoodi-*", chain: hoodi}]
  expected: [node-a, absent-1]
slashings:
  watch: {mainnet: ["12340-32339"], hoodi: ["500-20499"]}
  proposer_names: true
  catch_up: 3h
sync_committee: {members: true}
state: {dir: "@STATE@"}
`;

const SOURCES = ['machines', 'daily_returns', 'slashings', 'sync_committee'];
/** The chains are polled side by side. */
const ALL_UP = SOURCES.map((source) => new RegExp(`^beaconchain_source_up\\{source="${source}".*\\} 1`, 'm'));

const COMPLETE = [
  ...ALL_UP,
  /^beaconchain_machine_peers\{.*machine="node-a"/m,
  /^beaconchain_machine_info\{.*machine="hoodi-1"/m,
  /^beaconchain_attester_slashings_total\{chain="mainnet",.*\} [1-9]/m,
  /^beaconchain_attester_slashings_total\{chain="hoodi",.*\} [1-9]/m,
  /^beaconchain_watched_validators_slashed\{chain="mainnet"\} [1-9]/m,
  /^beaconchain_watched_proposals_total\{.*\} [1-9]/m,
  /^beaconchain_watched_sync_committee_validators\{/m,
];

/** The metrics when they have all of these lines. */
async function seen(port: string, lines: readonly RegExp[]): Promise<string> {
  let text = '';
  for (let tries = 0; tries < 600; tries += 1) {
    text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    if (lines.every((line) => line.test(text))) return text;
    await delay(1000);
  }
  throw new Error(`not seen within ten minutes: ${lines.filter((line) => !line.test(text)).join(' ')}`);
}

const work = mkdtempSync(join(tmpdir(), 'release-state-'));
const state = join(work, 'state');
try {
  const sandbox = run(work, 'sandbox', '--web.listen-address=127.0.0.1:0');
  const url = await logged(sandbox, 'url');
  const config = join(work, 'config.yaml');
  writeFileSync(config, CONFIG.replaceAll('@URL@', url).replaceAll('@STATE@', state));
  const exporter = run(work, 'serve', `--config.file=${config}`, '--web.listen-address=127.0.0.1:0');
  const port = await logged(exporter, 'port');
  // The first poll begins at the head: only what happens after it is counted.
  await seen(port, ALL_UP);
  for (const validator of ['mainnet&validators=12340', 'hoodi&validators=500'])
    await fetch(`${url}/-/slash?chain=${validator}`, { method: 'POST' });
  const metrics = await seen(port, COMPLETE);
  await end(exporter, 'SIGTERM');
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  cpSync(state, join(FOLDER, 'state'), { recursive: true, filter: (path) => !path.endsWith('socket') });
  writeFileSync(join(FOLDER, 'config.yaml'), CONFIG);
  writeFileSync(join(FOLDER, 'metrics.txt'), `${(metrics.match(/^beaconchain_.*$/gm) ?? []).join('\n')}\n`);
} finally {
  endAll();
  rmSync(work, { recursive: true, force: true, maxRetries: 5 });
}
