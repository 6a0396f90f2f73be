import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { CHAINS, SECONDS_PER_SLOT } from '../../../src/lib/chain.ts';
import { between, unit } from '../../../src/lib/random.ts';
import { peek } from '../../../src/state/file.ts';
import { scrape } from '../../support/ask.ts';
import { countersOf, truthOf } from '../../support/chain-truth.ts';
import { isKeptCounter, seriesOf, seriesValue } from '../../support/exposition-text.ts';
import { temporaryFolder } from '../../support/files.ts';
import { LivelyChain } from '../../support/lively-chain.ts';
import { portOf, type Running, startServe, waitFor } from '../../support/program.ts';
import { type ChainServer, type Exchange, exchangesUpTo, slashingsIn, startChainServer } from './chain-server.ts';

const SEED = 20_260_930;
const FIRST_EPOCH = 405_000;
/** The simulation kills far more often; this is the real program on a real disk. */
const KILLS = 6;
/** An epoch in about a quarter of a second. */
const SLOT_MS = 8;
const WATCHED = '[3, "10-19", "60-89", "500-999"]';

function config(url: string, dir: string): string {
  return `
api: {base_url: "${url}"}
chains: {mainnet: {v1_base_url: "${url}"}}
machines: {enabled: false}
daily_returns: {enabled: false}
sync_committee: {enabled: false}
slashings: {interval: 1s}
validators: {watch: ${WATCHED}, sync_committee: false, status: false}
state: {dir: "${dir}"}
`;
}

/** Whether the chain goes on. */
interface Movement {
  isPaused: boolean;
}

/** Lets the chain go on until the test ends, and reorganises some blocks away whose slashings were just read. */
function keepMoving(chain: LivelyChain, server: ChainServer): Movement {
  const movement = { isPaused: false };
  let looked = 0;
  const timer = setInterval(() => {
    if (movement.isPaused) return;
    chain.step();
    const fresh = server.exchanges.slice(looked);
    looked = server.exchanges.length;
    for (const [i, { what }] of fresh.entries()) {
      if (what.startsWith('slot/') && unit(SEED, looked, i) < 0.8) chain.takeAway(Number(what.slice(5)));
    }
  }, SLOT_MS);
  onTestFinished(() => clearInterval(timer));
  return movement;
}

/** A gauge that only goes forward. */
const SCANNED = 'beaconchain_scanned_epoch {"chain":"mainnet"}';

/** Every counter of ours over all lives, and where one stepped back. */
class Counters {
  readonly highest = new Map<string, number>();
  readonly stepsBack: string[] = [];

  /** Scrapes as fast as it gets answers, as long as the program lives. */
  async follow(program: Running, onNews: () => void): Promise<void> {
    const epoch = (): number | undefined => this.highest.get(SCANNED);
    const before = epoch();
    while (program.child.exitCode === null && program.child.signalCode === null) {
      const [listening] = program.lines('listening');
      const text = listening && (await scrape(Number(listening['port'])).catch(() => undefined));
      if (text) this.note(text);
      if (epoch() !== before) onNews();
      await sleep(5);
    }
  }

  note(text: string): void {
    for (const { name, labels, value } of seriesOf(text)) {
      const series = `${name} ${JSON.stringify(labels)}`;
      if (series !== SCANNED && !isKeptCounter(name)) continue;
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

function isWatched(n: number): boolean {
  return n === 3 || (n >= 10 && n <= 19) || (n >= 60 && n <= 89) || (n >= 500 && n <= 999);
}

/** The watched validators that /metrics names as slashed. */
function namedIn(text: string): number[] {
  const named = seriesOf(text).filter(({ name }) => name === 'beaconchain_watched_validator_slashed_timestamp_seconds');
  return named.map(({ labels }) => Number(labels['validator'])).toSorted((a, b) => a - b);
}

/** The watched validators that /metrics says missed a proposal, each with the slot of the newest. */
function missedIn(text: string): Map<number, number> {
  const times = seriesOf(text).filter(
    ({ name }) => name === 'beaconchain_watched_validator_missed_proposal_timestamp_seconds',
  );
  return new Map(times.map(({ labels, value }) => [Number(labels['validator']), slotAt(value)]));
}

function slotAt(seconds: number): number {
  return (seconds - CHAINS.mainnet.genesis) / SECONDS_PER_SLOT;
}

/** What the program has logged of slashings and missed proposals. */
function loggedBy(program: Running): string[] {
  const of = [
    'attester slashing',
    'proposer slashing',
    'watched validator slashed',
    'watched validator missed a proposal',
  ];
  return of.flatMap((message) => program.lines(message)).map(({ time: _, ...line }) => JSON.stringify(line));
}

interface Moments {
  /** Resolves when so many requests were answered. */
  asked(times: number): Promise<void>;
  readonly news: Promise<void>;
  /** Lets a slashing be persisted whose block is reorganised away; resolves when it is. */
  dropped(): Promise<void>;
}

/**
 * A moment by the seed: while the program starts, in a poll, right after a scrape has shown what is new, or later. The
 * last time, after a reorganisation.
 */
async function killingMoment(life: number, { asked, news, dropped }: Moments): Promise<void> {
  const phase = unit(SEED, life, 1);
  const upTo = (ms: number): Promise<void> => sleep(between(0, ms, SEED, life, 2));
  if (life === KILLS - 1) return dropped();
  if (phase < 0.2) return upTo(600);
  // A poll takes about twenty requests.
  if (phase < 0.45) return asked(between(1, 15, SEED, life, 2));
  if (phase < 0.7) return news;
  await asked(1);
  return upTo(500);
}

describe('system/end-to-end/slashings-kill', { timeout: 600_000 }, () => {
  it(`counts each slashing, slot and block exactly once though it is killed ${KILLS} times while the chain goes on`, async () => {
    const chain = new LivelyChain(FIRST_EPOCH, SEED);
    const server = await startChainServer(chain);
    const dir = join(temporaryFolder(), 'state');
    const counters = new Counters();
    const persisted: Exchange[] = [];
    const logged: string[] = [];
    const movement = keepMoving(chain, server);

    /** What polls with this key persisted, after one that began at `before`. */
    async function keptOf(key: string, before: number | undefined): Promise<readonly Exchange[]> {
      const exchanges = server.exchanges.filter((exchange) => exchange.key === key);
      const last = await lastPersistedPoll(dir);
      return last === undefined || last === before ? [] : exchangesUpTo(exchanges, last);
    }

    async function dropOne(key: string, before: number | undefined): Promise<void> {
      movement.isPaused = true;
      const { slot, slashing } = chain.slash();
      const isSent = ({ what }: Exchange): boolean => what === `slot/${slot}`;
      await waitFor(() => expect(server.exchanges.some(isSent), `slot ${slot} is read`).toBe(true));
      chain.drop(slashing);
      await waitFor(async () => expect(slashingsIn(await keptOf(key, before))).toContain(slashing));
      movement.isPaused = false;
    }

    async function live(life: number): Promise<void> {
      const before = await lastPersistedPoll(dir);
      // Another key each time: with the same one the first second after a start belongs to the process before.
      const key = `life-${life}`;
      const asked = (times: number): Promise<void> => server.asked(key, times);
      const program = startServe(config(server.url, dir), key);
      const { promise: news, resolve: onNews } = Promise.withResolvers<void>();
      const followed = counters.follow(program, onNews);
      const moments = { asked, news, dropped: () => dropOne(key, before) };
      await Promise.race([killingMoment(life, moments), program.ended]);
      expect(await program.stop('SIGKILL'), program.output).toEqual({ code: null, signal: 'SIGKILL' });
      await followed;
      persisted.push(...(await keptOf(key, before)));
      logged.push(...loggedBy(program));
    }
    for (let life = 0; life < KILLS; life += 1) await live(life);

    movement.isPaused = true;
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
    const seen = slashingsIn(persisted);
    const truth = truthOf(chain, first, seen, isWatched);
    const final = truthOf(chain, first, new Set(), isWatched);
    expect(countersOf(text, truth)).toEqual(truth.counters);
    const slashed = [...new Set([...truth.slashed, ...truth.slashedProposers])].sort((a, b) => a - b);
    expect(namedIn(text)).toEqual(slashed.filter(isWatched));
    expect(missedIn(text)).toEqual(truth.missed);
    expect(seriesValue(text, 'beaconchain_watched_validators_slashed')).toBe(namedIn(text).length);
    expect(counters.stepsBack).toEqual([]);
    // A kill between the save and the log loses the lines of one poll.
    logged.push(...loggedBy(program));
    expect(logged.filter((line, i) => logged.indexOf(line) !== i)).toEqual([]);
    expect(logged.length).toBeGreaterThan(0);
    expect(truth, 'slashings dropped by a reorganisation after they were seen').not.toEqual(final);
  });
});
