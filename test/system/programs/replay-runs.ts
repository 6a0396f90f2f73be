import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { CHAINS, type Chain } from '../../../src/lib/chain.ts';
import { scrape } from '../../support/ask.ts';
import { seriesOf, seriesValue } from '../../support/exposition-text.ts';
import type { FaultServer } from '../../support/fault-server.ts';
import { temporaryFolder } from '../../support/files.ts';
import { portOf, startExporter, startServe, waitFor } from '../../support/program.ts';
import type { Dump } from '../../support/replay/answer-at.ts';
import { readDump, replayConfig, startReplay } from '../../support/replay/replay.ts';

export const KEY = 'a-key-that-nobody-may-see';

/** A recorded service, and how the exporter that asks it is configured. */
interface Replay {
  readonly dump: Dump;
  readonly chains: readonly Chain[];
  /** The sections of the sources. */
  readonly sections: string;
}

/** The intervals are short, so that what is to happen once has occasion to happen again. */
export function recorded(name: string, chains: readonly Chain[] = ['mainnet'], sections = OFTEN): Replay {
  return { dump: readDump(join(import.meta.dirname, '../../replays', name)), chains, sections };
}

export const OFTEN = 'machines: {interval: 5s, chain: mainnet}\nslashings: {interval: 5s}\n';

interface Checked {
  readonly code: number | null;
  readonly stdout: string;
  /** The lines of the output, without widths and durations. */
  readonly lines: readonly string[];
  readonly requests: number;
}

/** Runs `check --probe` on this service. */
export async function checked(service: FaultServer, config: string, ...flags: string[]): Promise<Checked> {
  const file = join(temporaryFolder(), 'config.yaml');
  writeFileSync(file, config);
  const program = startExporter(['check', '--probe', `--config.file=${file}`, ...flags], { BEACONCHAIN_API_KEY: KEY });
  const { code } = await program.ended;
  expect(program.output).not.toContain(KEY);
  const lines = program.stdout.split('\n').map((line) => line.replace(/ \d+ ms /, ' ').replace(/ +/g, ' '));
  return { code, stdout: program.stdout, lines, requests: service.requests.length };
}

export async function checkedReplay({ dump, chains, sections }: Replay): Promise<Checked> {
  const service = await startReplay(dump, KEY);
  return checked(service, replayConfig(service, temporaryFolder(), chains) + sections);
}

/** Runs a daemon until it has polled every source, and the busy ones of mainnet several times. */
export async function served(config: string) {
  const program = startServe(config, KEY);
  const port = await portOf(program);
  const text = await waitFor(async () => {
    const now = await scrape(port);
    const attempts = seriesOf(now).filter(({ name }) => name === 'beaconchain_source_attempts_total');
    expect(attempts).not.toHaveLength(0);
    for (const { labels, value } of attempts) {
      const isBusy = labels['source'] === 'machines' || labels['source'] === 'slashings';
      expect(value).toBeGreaterThanOrEqual(isBusy && labels['chain'] !== 'hoodi' ? 3 : 1);
    }
    return now;
  });
  const at = Date.now() / 1000;
  /** NaN: there is no such series. */
  const value = (name: string, labels = {}): number => seriesValue(text, `beaconchain_${name}`, labels) ?? Number.NaN;
  /** The series above 0, by their labels. */
  const aboveZero = (name: string): Record<string, number> => {
    const series = seriesOf(text).filter((one) => one.name === `beaconchain_${name}` && one.value > 0);
    return Object.fromEntries(series.map((one) => [Object.values(one.labels).join(' '), one.value]));
  };
  return { program, text, at, value, aboveZero };
}

export type Served = Awaited<ReturnType<typeof served>>;

export async function servedReplay({ dump, chains, sections }: Replay): Promise<Served> {
  const service = await startReplay(dump, KEY);
  return served(replayConfig(service, temporaryFolder(), chains) + sections);
}

/** Stops a daemon, which must be well whatever the service answers. */
export async function endsWell({ program, text }: Served): Promise<void> {
  const { code } = await program.stop();
  expect(code).toBe(0);
  expect(program.output + text).not.toContain(KEY);
  expect(program.output).not.toMatch(/"level":"(error|fatal)"/);
}

/** A poll may have been just before a new epoch, day or period. */
const SLACK_SECONDS = 120;

export function expectAge(age: number, least: number, most = least): void {
  expect(age).toBeGreaterThanOrEqual(least);
  expect(age).toBeLessThanOrEqual(most + SLACK_SECONDS);
}

/** The newest day of mainnet is over, and fits its genesis. */
export function expectNewestDay({ value, at }: Served): void {
  const end = CHAINS.mainnet.genesis + (value('daily_return_day') + 1) * 86_400;
  expect(value('daily_return_end_timestamp_seconds')).toBe(end);
  expectAge(at - end, 0, 86_400);
}

/** The period of mainnet is the current one, and fits its genesis. */
export function expectCurrentPeriod({ value, at }: Served): void {
  const period = value('sync_committee_period');
  const start = CHAINS.mainnet.genesis + period * 98_304;
  expect(value('sync_committee_start_timestamp_seconds')).toBe(start);
  expect(value('sync_committee_start_epoch')).toBe(period * 256);
  expectAge(at - start, 0, 98_304);
}

/** @param slot The slot of the newest recorded block in its epoch. */
export function expectHead({ value, at }: Served, slot: number): void {
  const labels = { chain: 'mainnet' };
  const epoch = value('head_epoch', labels);
  expect(value('head_slot', labels)).toBe(epoch * 32 + slot);
  expectAge(at - (CHAINS.mainnet.genesis + value('head_slot', labels) * 12), 0, 384);
  expect([epoch - 2, epoch - 3]).toContain(value('finalized_epoch', labels));
}
