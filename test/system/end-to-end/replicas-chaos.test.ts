import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { between, seedOf, unit } from '../../../src/lib/random.ts';
import type { LeaseTimings } from '../../../src/replica/lease.ts';
import { ask, scrape } from '../../support/ask.ts';
import { countersOf, truthOf } from '../../support/chain-truth.ts';
import { seriesOf, seriesValue } from '../../support/exposition-text.ts';
import { LivelyChain } from '../../support/lively-chain.ts';
import { portOf, type Running, waitFor } from '../../support/program.ts';
import { areMissing, REDIS } from '../../support/tools.ts';
import { type ChainServer, startChainServer } from './chain-server.ts';
import { type Cluster, isAlive, lifeOf, metricsOf, type Node, startCluster, termsIn } from './cluster.ts';

/** `npm run chaos` takes the lease of the program, another seed if one is given, and its time. */
const isLong = process.env['CHAOS'] !== undefined;
const SEED = seedOf(process.env['CHAOS'] || 'chaos');
const FAST: LeaseTimings = { ttlMs: 600, marginMs: 60, graceMs: 120, heartbeatMs: 30 };
const TTL_MS = isLong ? 9_000 : FAST.ttlMs;
/** The simulation has far more of them; these are real processes and a real Redis. */
const FAULTS = isLong ? 50 : 15;
const FIRST_EPOCH = 405_000;
const SLOT_MS = 8;

function config(url: string): string {
  return [
    `api: {base_url: "${url}"}`,
    `chains: {mainnet: {v1_base_url: "${url}"}}`,
    'machines: {enabled: false}',
    'daily_returns: {enabled: false}',
    'sync_committee: {enabled: false}',
    'slashings: {interval: 1s}',
  ].join('\n');
}

/** Returns the moment (Unix ms) from which another replica can take over, where that is not its beginning. */
type Fault = (cluster: Cluster, leader: Node, random: (low: number, high: number) => number) => Promise<unknown>;

/** Longer than a lease, or shorter. */
function pauseOf(random: (low: number, high: number) => number): number {
  return random(0, 99) < 50 ? random(20, TTL_MS / 2) : random(TTL_MS, 1.5 * TTL_MS);
}

const FAULT_KINDS: Readonly<Record<string, Fault>> = {
  'the leader is killed': (cluster, leader) => cluster.restart(leader, 'SIGKILL'),
  async 'another replica is killed'(cluster, leader) {
    const other = cluster.nodes.find((node) => node !== leader && isAlive(node)) ?? leader;
    await cluster.restart(other, 'SIGKILL');
  },
  'the leader is stopped': (cluster, leader) => cluster.restart(leader, 'SIGTERM'),
  async 'the leader pauses'(_, leader, random) {
    lifeOf(leader).child.kill('SIGSTOP');
    await sleep(pauseOf(random));
    lifeOf(leader).child.kill('SIGCONT');
  },
  async 'the leader is cut off'(_, leader, random) {
    leader.network.cut();
    await sleep(pauseOf(random));
    leader.network.heal();
  },
  async 'every connection is reset'(cluster) {
    for (const { network } of cluster.nodes) network.drop();
  },
  async 'redis is restarted'(cluster) {
    await cluster.redis.shutDown();
    await cluster.redis.start();
  },
  async 'redis is gone for a while'(cluster, _, random) {
    await cluster.redis.shutDown();
    await sleep(pauseOf(random));
    await cluster.redis.start();
    return Date.now();
  },
  async 'redis fails over and loses what was written last'(cluster, _, random) {
    await cluster.inSync();
    cluster.stopCopying();
    await sleep(random(50, 1_000));
    await cluster.failOver();
  },
  async 'the leader reads its configuration again'(_, leader) {
    await ask(await portOf(lifeOf(leader)), '/-/reload', { method: 'POST' });
  },
};

/** Every counter on every replica, and where one stepped back. */
class Watcher {
  readonly stepsBack: string[] = [];
  readonly failures: string[] = [];
  scrapes = 0;
  readonly #ending: ReadonlyMap<Running, number>;
  #isOver = false;

  constructor({ ending }: Cluster) {
    this.#ending = ending;
  }

  /** Scrapes one replica, life after life, as long as the test goes on. */
  async follow(node: Node): Promise<void> {
    const highest = new Map<string, number>();
    while (!this.#isOver) {
      const life = lifeOf(node);
      const [listening] = life.lines('listening');
      try {
        if (listening) this.#note(node, await scrape(Number(listening['port'])), highest);
      } catch (error) {
        if (!this.#ending.has(life)) this.failures.push(`replica ${node.number}: ${String(error)}`);
      }
      await sleep(20);
    }
  }

  end(): void {
    this.#isOver = true;
  }

  #note({ number }: Node, text: string, highest: Map<string, number>): void {
    this.scrapes += 1;
    for (const { name, labels, value } of seriesOf(text)) {
      // How often a process could not write is its own.
      if (!/^beaconchain_(?!exporter_)\w+(_total|_bucket|_sum|_count)$/.test(name)) continue;
      const series = `${name} ${JSON.stringify(labels)}`;
      const before = highest.get(series) ?? 0;
      if (value < before) this.stepsBack.push(`replica ${number}: ${series}: ${before} to ${value}`);
      highest.set(series, value);
    }
  }
}

/** Requests that a replica sent after another one had begun to lead, by term. */
function strays(cluster: Cluster, servers: readonly ChainServer[]): number[] {
  const terms = cluster.nodes.flatMap(({ number, lives }) =>
    lives.flatMap((life) => termsIn(life).map((term) => ({ number, ...term }))),
  );
  return terms.map(({ number, from }) => {
    const next = Math.min(...terms.filter((term) => term.from > from).map((term) => term.from));
    const mine = Math.min(
      ...terms.filter((term) => term.number === number && term.from > from).map((term) => term.from),
    );
    return servers[number]?.exchanges.filter(({ at }) => at >= next && at < mine && at >= from).length ?? 0;
  });
}

/** Requests in the last seconds of each term. */
function sentLast(cluster: Cluster, servers: readonly ChainServer[]): number {
  const ends = cluster.nodes.flatMap(({ number, lives }) =>
    lives.flatMap((life) =>
      termsIn(life).map(({ from, to }) => ({ number, from, to: Math.min(to, cluster.endOf(life)) })),
    ),
  );
  const isLast = (exchange: { at: number }, { from, to }: { from: number; to: number }): boolean =>
    exchange.at >= from && exchange.at > to - 2_000;
  return ends.reduce(
    (sum, term) => sum + (servers[term.number]?.exchanges.filter((one) => isLast(one, term)).length ?? 0),
    0,
  );
}

function requestsIn(text: string): number {
  const series = seriesOf(text).filter(({ name }) => name === 'beaconchain_api_requests_total');
  return series.reduce((sum, { value }) => sum + value, 0);
}

describe.skipIf(areMissing(REDIS))(
  'system/end-to-end/replicas-chaos',
  { timeout: isLong ? 1_800_000 : 600_000 },
  () => {
    it(`three replicas count everything once through ${FAULTS} faults, and nothing shown steps back`, async ({
      annotate,
    }) => {
      const chain = new LivelyChain(FIRST_EPOCH, SEED, { keepsSlashings: true });
      const servers = await Promise.all([0, 1, 2].map(() => startChainServer(chain)));
      const cluster = await startCluster({
        config: (number) => config(servers[number]?.url ?? ''),
        key: 'chaos',
        replicas: 3,
        ...(isLong ? {} : { timings: FAST }),
        skewsMs: [-30_000, 0, 30_000],
      });
      await cluster.addStandby();
      for (const node of cluster.nodes) cluster.start(node);
      const first = chain.finalized;
      const scanned = async (node: Node) => seriesValue(await metricsOf(node), 'beaconchain_scanned_epoch');
      for (const node of cluster.nodes) await waitFor(async () => expect(await scanned(node)).toBe(first));

      const timer = setInterval(() => chain.step(), SLOT_MS);
      onTestFinished(() => clearInterval(timer));
      const watcher = new Watcher(cluster);
      const watching = cluster.nodes.map((node) => watcher.follow(node));
      const letDie = cluster.keepAlive();
      onTestFinished(() => {
        letDie();
        return cluster.end();
      });
      const done = new Map<string, number>();
      /** From the beginning of the fault to the term of another process. */
      const takeovers = new Map<string, number[]>();
      for (let i = 0; i < FAULTS; i += 1) {
        const random = (low: number, high: number): number => between(low, high, SEED, i, ++draws);
        let draws = 0;
        const names = Object.keys(FAULT_KINDS);
        const name = names[Math.floor(unit(SEED, i) * names.length)] as string;
        const leader = await cluster.waitForLeader();
        const began = Date.now();
        const since = Number((await FAULT_KINDS[name]?.(cluster, leader, random)) ?? began);
        const term = termsIn(lifeOf(await cluster.waitForLeader())).at(-1)?.from ?? began;
        if (term > began) takeovers.set(name, [...(takeovers.get(name) ?? []), term - since]);
        done.set(name, (done.get(name) ?? 0) + 1);
        await sleep(random(0, TTL_MS / 2));
      }

      // On a quick machine the faults are over early.
      await waitFor(() => expect(chain.finalized - first).toBeGreaterThan(30));
      clearInterval(timer);
      chain.end();
      const texts = new Map<Node, string>();
      for (const node of cluster.nodes) {
        const text = await waitFor(async () => {
          const now = await metricsOf(node);
          expect(seriesValue(now, 'beaconchain_scanned_epoch')).toBe(chain.finalized);
          return now;
        });
        texts.set(node, text);
      }
      watcher.end();
      await Promise.all(watching);
      const terms = cluster.nodes.reduce((sum, { lives }) => sum + lives.flatMap(termsIn).length, 0);
      await annotate(`${JSON.stringify(Object.fromEntries(done))}; ${terms} terms, ${watcher.scrapes} scrapes`);
      for (const [name, times] of takeovers) {
        const sorted = times.toSorted((x, y) => x - y);
        const [median, worst] = [sorted[times.length >> 1], sorted.at(-1)];
        await annotate(`${name}: ${times.length} takeovers, median ${median} ms, worst ${worst} ms`);
      }
      const truth = truthOf(chain, first, new Set());
      for (const [node, text] of texts) {
        expect(countersOf(text, truth), `replica ${node.number}`).toEqual(truth.counters);
      }
      // Requests are counted once a second: those of the last one go with a leader that is killed or cut off.
      const counted = requestsIn(await metricsOf(cluster.nodes[0] as Node));
      const sent = servers.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
      await annotate(`${chain.finalized - first + 1} epochs, ${counted} of ${sent} requests counted`);
      expect(counted).toBeLessThanOrEqual(sent);
      expect(counted).toBeGreaterThanOrEqual(sent - sentLast(cluster, servers));
      expect(watcher.stepsBack).toEqual([]);
      expect(watcher.failures).toEqual([]);
      expect(Math.max(...strays(cluster, servers))).toBeLessThanOrEqual(2);
      // It was as rough as it is meant to be.
      expect(done.size).toBeGreaterThanOrEqual(Object.keys(FAULT_KINDS).length - 2);
      expect(terms).toBeGreaterThan(FAULTS / 5);
    });
  },
);
