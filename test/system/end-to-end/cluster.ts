import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LeaseTimings } from '../../../src/state/replica.ts';
import { scrape } from '../../support/ask.ts';
import { temporaryFolder } from '../../support/files.ts';
import { type Network, startNetwork } from '../../support/network.ts';
import { freePort } from '../../support/ports.ts';
import { portOf, type Running, SURROUNDINGS, start, waitFor } from '../../support/program.ts';
import { RedisServer, startRedis } from '../../support/redis.ts';

const FAST_REPLICA = join(import.meta.dirname, 'fast-replica.ts');
/** Options with which a server that is killed loses at most a second of writes. */
const REDIS_ARGS = ['--save', '', '--appendonly', 'yes', '--repl-diskless-sync-delay', '0'];

export interface ClusterOptions {
  /** The configuration of a replica, without the section `state`. */
  readonly config: (replica: number) => string;
  readonly key: string;
  readonly replicas: number;
  /** By default the timings of the program. */
  readonly timings?: LeaseTimings;
  /** The error of the wall clock of each replica. */
  readonly skewsMs?: readonly number[];
}

/** One replica with all its processes, behind its own network. */
export interface Node {
  readonly number: number;
  readonly network: Network;
  readonly file: string;
  /** All processes so far. The last one is the current one. */
  readonly lives: Running[];
}

/** Replicas as processes, and the Redis that they share, with an optional standby. */
export class Cluster {
  readonly nodes: readonly Node[];
  /** Processes that were told to end, with the time (Unix ms). After that they need not answer. */
  readonly ending = new Map<Running, number>();
  readonly #options: ClusterOptions;
  #primary: RedisServer;
  #standby: RedisServer | undefined;
  /** The network between primary and standby. */
  #replication: Network | undefined;

  constructor(options: ClusterOptions, primary: RedisServer, nodes: readonly Node[]) {
    this.#options = options;
    this.#primary = primary;
    this.nodes = nodes;
  }

  get redis(): RedisServer {
    return this.#primary;
  }

  /** Starts the process of a replica. */
  start(node: Node): Running {
    const { timings, skewsMs = [], key } = this.#options;
    const options = JSON.stringify({ skewMs: skewsMs[node.number] ?? 0, timings });
    const running = start(process.execPath, [FAST_REPLICA, node.file, options], {
      cwd: temporaryFolder(),
      env: { ...SURROUNDINGS, BEACONCHAIN_API_KEY: key },
    });
    node.lives.push(running);
    return running;
  }

  /** Ends the process of a replica and starts a new one. */
  async restart(node: Node, signal: NodeJS.Signals): Promise<void> {
    const life = lifeOf(node);
    this.ending.set(life, Date.now());
    await life.stop(signal);
    this.start(node);
  }

  /** Kills all processes, so that they use no CPU during later tests. */
  async end(): Promise<void> {
    await Promise.all(this.nodes.flatMap(({ lives }) => lives.map((life) => life.stop('SIGKILL'))));
    await this.#standby?.kill();
    await this.#primary.kill();
  }

  /** When a process was told to end, Unix ms. Infinity: it was not. */
  endOf(life: Running): number {
    return this.ending.get(life) ?? Number.POSITIVE_INFINITY;
  }

  /** Restarts processes that exit because Redis is away, as Kubernetes does. Returns how to stop that. */
  keepAlive(): () => void {
    const timer = setInterval(() => {
      for (const node of this.nodes) if (lifeOf(node).child.exitCode === 1) this.start(node);
    }, 200);
    return () => clearInterval(timer);
  }

  /** The replica that last logged that it leads. Others may be paused. undefined: none leads. */
  leader(): Node | undefined {
    const since = (node: Node): number => termsIn(lifeOf(node)).at(-1)?.from ?? 0;
    const leaders = this.nodes.filter((node) => isAlive(node) && leads(lifeOf(node)));
    return leaders.toSorted((a, b) => since(b) - since(a))[0];
  }

  waitForLeader(other?: Node): Promise<Node> {
    return waitFor(() => {
      const leader = this.leader();
      if (!leader || leader === other) throw new Error(`nobody leads:\n${this.nodes.map(tail).join('\n---\n')}`);
      return leader;
    });
  }

  /** Starts a standby that replicates the primary. */
  async addStandby(): Promise<void> {
    this.#replication ??= await startNetwork(this.#primary.port);
    this.#replication.target = this.#primary.port;
    this.#standby = new RedisServer(await freePort(), REDIS_ARGS);
    await this.#standby.start();
    await this.#standby.command('REPLICAOF', '127.0.0.1', String(this.#replication.port));
    await this.inSync();
  }

  /** Waits until the standby has all data. */
  async inSync(): Promise<void> {
    await waitFor(async () => {
      const text = String(await this.#standby?.command('INFO', 'replication'));
      if (!text.includes('master_link_status:up')) throw new Error('the standby is not in sync');
    });
  }

  /** Stops the replication to the standby. */
  stopCopying(): void {
    this.#replication?.cut();
  }

  /** Kills the primary. The standby, which lacks the last writes, takes its place. */
  async failOver(): Promise<void> {
    const standby = this.#standby;
    if (!standby) throw new TypeError('no standby');
    await this.#primary.kill();
    await standby.command('REPLICAOF', 'NO', 'ONE');
    this.#primary = standby;
    this.#replication?.heal();
    for (const { network } of this.nodes) {
      network.target = standby.port;
      network.drop();
    }
    await this.addStandby();
  }
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const primary = await startRedis(REDIS_ARGS);
  const nodes: Node[] = [];
  for (let number = 0; number < options.replicas; number += 1) {
    const network = await startNetwork(primary.port);
    const file = join(temporaryFolder(), 'config.yaml');
    const state = `state: {redis: {url: "${network.url}"}}\nweb: {listen_address: "127.0.0.1:0"}\n`;
    writeFileSync(file, `${options.config(number)}\n${state}`);
    nodes.push({ number, network, file, lives: [] });
  }
  return new Cluster(options, primary, nodes);
}

/** The current process of a replica. */
export function lifeOf({ number, lives }: Node): Running {
  const life = lives.at(-1);
  if (!life) throw new TypeError(`replica ${number} was not started`);
  return life;
}

export function isAlive({ lives }: Node): boolean {
  const child = lives.at(-1)?.child;
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}

/** When a process led, Unix ms, by its own log. */
export function termsIn(life: Running): { from: number; to: number }[] {
  const terms: { from: number; to: number }[] = [];
  for (const [, time = '', msg] of life.stdout.matchAll(
    /"time":"([^"]+)".*"msg":"(leading|no longer leading|stopping)"/g,
  )) {
    const last = terms.at(-1);
    if (msg === 'leading') terms.push({ from: Date.parse(time), to: Number.POSITIVE_INFINITY });
    else if (last) last.to = Math.min(last.to, Date.parse(time));
  }
  return terms;
}

export function leads(life: Running): boolean {
  return termsIn(life).at(-1)?.to === Number.POSITIVE_INFINITY;
}

export async function metricsOf(node: Node): Promise<string> {
  return scrape(await portOf(lifeOf(node)));
}

function tail(node: Node): string {
  return `replica ${node.number}: ${lifeOf(node).output.split('\n').slice(-12).join('\n')}`;
}
