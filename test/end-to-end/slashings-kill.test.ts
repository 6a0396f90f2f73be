import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { between, unit } from '../../src/lib/random.ts';
import { peek } from '../../src/snapshot/file.ts';
import { scrape } from '../support/ask.ts';
import { type ChainServer, type Exchange, startChainServer } from '../support/chain-server.ts';
import { seriesOf, seriesValue } from '../support/exposition-text.ts';
import { temporaryFolder } from '../support/files.ts';
import { LivelyChain, validatorsOf } from '../support/lively-chain.ts';
import { portOf, type Running, startServe, waitFor } from '../support/program.ts';

const SEED = 20_260_930;
const FIRST_EPOCH = 405_000;
const KILLS = 50;
/** An epoch in about a quarter of a second. */
const SLOT_MS = 8;
const WATCHED = {
  ranges: '[3, "10-19", "60-89", "500-999"]',
  has: (n: number) => n === 3 || /^(1\d|[678]\d|[5-9]\d\d)$/.test(`${n}`),
};

function config(url: string, dir: string): string {
  return `
api: {base_url: "${url}"}
chains: {mainnet: {v1_base_url: "${url}"}}
machines: {enabled: false}
daily_returns: {enabled: false}
sync_committee: {enabled: false}
slashings: {interval: 1s, watch: ${WATCHED.ranges}}
state: {dir: "${dir}"}
`;
}

/** Lets the chain go on until the test ends, and reorganises some blocks away whose slashings were just read. */
function keepMoving(chain: LivelyChain, server: ChainServer): () => void {
  let looked = 0;
  const timer = setInterval(() => {
    chain.step();
    const fresh = server.exchanges.slice(looked);
    looked = server.exchanges.length;
    for (const [i, { what }] of fresh.entries()) {
      if (what.startsWith('slot/') && unit(SEED, looked, i) < 0.6) chain.takeAway(Number(what.slice(5)));
    }
  }, SLOT_MS);
  const stop = (): void => clearInterval(timer);
  onTestFinished(stop);
  return stop;
}

/** Every counter of ours over all lives, and where one stepped back. */
class Counters {
  readonly highest = new Map<string, number>();
  readonly stepsBack: string[] = [];
  scrapes = 0;

  /** Scrapes as fast as it gets answers, as long as the program lives. */
  async follow(program: Running): Promise<void> {
    while (program.child.exitCode === null && program.child.signalCode === null) {
      const [listening] = program.lines('listening');
      const text = listening && (await scrape(Number(listening['port'])).catch(() => undefined));
      if (text) this.note(text);
      await sleep(15);
    }
  }

  note(text: string): void {
    this.scrapes += 1;
    for (const { name, labels, value } of seriesOf(text)) {
      if (!/^beaconchain_\w+(_total|_bucket|_sum|_count)$/.test(name)) continue;
      const series = `${name} ${JSON.stringify(labels)}`;
      const before = this.highest.get(series) ?? 0;
      if (value < before) this.stepsBack.push(`${series}: ${before} to ${value}`);
      this.highest.set(series, value);
    }
  }
}

/** Start of the last poll whose result was persisted, Unix ms. */
async function lastPersistedPoll(dir: string): Promise<number | undefined> {
  const entry = await peek(dir, 'slashings-mainnet', z.object({ lastAttemptAt: z.number() }));
  return entry?.lastAttemptAt;
}

/**
 * The exchanges of polls up to the one that began at `lastPoll`. A poll begins with `latest`, or reads only what is final,
 * which counts anyway.
 */
function persistedOf(exchanges: readonly Exchange[], lastPoll: number): Exchange[] {
  const began = exchanges.findIndex(({ at }) => at >= lastPoll);
  const next = exchanges.findIndex(({ what }, i) => i > began && what === 'latest');
  return began === -1 || next === -1 ? [...exchanges] : exchanges.slice(0, next);
}

/** Slashings of blocks that a poll was shown as canonical, and of which it got the records. */
function seenAtHead(exchanges: readonly Exchange[]): Set<number> {
  const seen = new Set<number>();
  let shown = new Map<string, readonly number[]>();
  for (const { what, canonical, sent } of exchanges) {
    if (what === 'latest') shown = new Map();
    for (const [root, slashings] of canonical) shown.set(root, slashings);
    for (const root of sent) for (const n of shown.get(root) ?? []) seen.add(n);
  }
  return seen;
}

function sum(numbers: readonly unknown[]): number {
  return numbers.reduce((total: number, number) => total + Number(number), 0);
}

function epochsOf(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** What the counters must say, from the chain and from what was seen of it. */
function truthOf(chain: LivelyChain, first: number, seen: ReadonlySet<number>): Record<string, number> {
  const epochs = epochsOf(first, chain.finalized);
  const final = epochs.flatMap((epoch) => [...chain.slashings(epoch, true).values()].flat());
  const counted = [...new Set([...seen, ...final])];
  const blocks = epochs.flatMap((epoch) => chain.rows(epoch)).filter((row) => row['status'] === '1');
  const total = (field: string): number => sum(blocks.map((row) => row[field]));
  const ofKind = (kind: number): number => counted.filter((n) => n % 3 === kind).length;
  const slashed = [...new Set(counted.flatMap(validatorsOf))];
  const slots = chain.count(first, chain.finalized);
  return {
    scanned_epoch: chain.finalized,
    finalized_epoch: chain.finalized,
    skipped_epochs_total: 0,
    'slots_total proposed': slots.proposed,
    'slots_total missed': slots.missed,
    'slots_total orphaned': slots.orphaned,
    block_attestations_total: total('attestationscount'),
    block_deposits_total: total('depositscount'),
    block_voluntary_exits_total: total('voluntaryexitscount'),
    block_withdrawals_total: total('withdrawalcount'),
    block_transactions_total: total('exec_transactions_count'),
    block_gas_used_total: total('exec_gas_used'),
    proposer_slashings_total: total('proposerslashingscount'),
    'attester_slashings_total double_vote': ofKind(0),
    'attester_slashings_total surround_vote': ofKind(1),
    'attester_slashings_total unknown': ofKind(2),
    attester_slashed_validators_total: slashed.length,
    watched_validators_slashed: slashed.filter(WATCHED.has).length,
  };
}

/** The same of /metrics. */
function countsOf(text: string, truth: Record<string, number>): Record<string, number | undefined> {
  const value = (key: string): number | undefined => {
    const [name, label] = key.split(' ');
    const labels = label === undefined ? {} : name === 'slots_total' ? { status: label } : { kind: label };
    return seriesValue(text, `beaconchain_${name}`, labels);
  };
  return Object.fromEntries(Object.keys(truth).map((key) => [key, value(key)]));
}

/** A random moment: while the program starts, while it polls, or after that. */
async function killingMoment(life: number, firstRequest: Promise<void>): Promise<void> {
  const phase = unit(SEED, life, 1);
  if (phase >= 0.2) await firstRequest;
  const longest = phase < 0.2 ? 600 : phase < 0.6 ? 60 : 500;
  await sleep(between(0, longest, SEED, life, 2));
}

describe('end-to-end/slashings-kill', { timeout: 180_000 }, () => {
  it(`counts each slashing, slot and block exactly once though it is killed ${KILLS} times while the chain goes on`, async () => {
    const chain = new LivelyChain(FIRST_EPOCH, SEED);
    const server = await startChainServer(chain);
    const dir = join(temporaryFolder(), 'state');
    const counters = new Counters();
    const persisted: Exchange[] = [];
    const lives = { silent: 0, lost: 0, kept: 0 };
    const stopMoving = keepMoving(chain, server);

    async function live(life: number): Promise<void> {
      const before = await lastPersistedPoll(dir);
      // Another key each time: with the same one the first second after a start belongs to the process before.
      const key = `life-${life}`;
      const firstRequest = server.asked(key);
      const program = startServe(config(server.url, dir), key);
      const followed = counters.follow(program);
      await Promise.race([killingMoment(life, firstRequest), program.ended]);
      expect(await program.stop('SIGKILL'), program.output).toEqual({ code: null, signal: 'SIGKILL' });
      await followed;
      const last = await lastPersistedPoll(dir);
      const exchanges = server.exchanges.filter((exchange) => exchange.key === key);
      const kept = last === undefined || last === before ? [] : persistedOf(exchanges, last);
      persisted.push(...kept);
      if (exchanges.length === 0) lives.silent += 1;
      else if (kept.length < exchanges.length) lives.lost += 1;
      else lives.kept += 1;
    }
    for (let life = 0; life < KILLS; life += 1) await live(life);
    const killedAt = chain.finalized;

    stopMoving();
    chain.end();
    const key = 'last-life';
    const program = startServe(config(server.url, dir), key);
    const port = await portOf(program);
    const text = await waitFor(async () => {
      const now = await scrape(port);
      expect(seriesValue(now, 'beaconchain_scanned_epoch')).toBe(chain.finalized);
      return now;
    });
    counters.note(text);
    persisted.push(...server.exchanges.filter((exchange) => exchange.key === key));

    const first = persisted.find(({ what }) => what === 'finalized')?.epoch ?? Number.NaN;
    const seen = seenAtHead(persisted);
    const truth = truthOf(chain, first, seen);
    process.stdout.write(
      `${JSON.stringify({ lives, first, killedAt, end: chain.finalized, scrapes: counters.scrapes, requests: server.exchanges.length, seen: seen.size, served: seenAtHead(server.exchanges).size, finalOnly: truthOf(chain, first, new Set()), truth })}\n`,
    );
    expect(countsOf(text, truth)).toEqual(truth);
    expect(counters.stepsBack).toEqual([]);
  });
});
