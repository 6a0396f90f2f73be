import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LeaseTimings } from '../../../src/replica/lease.ts';
import { scrape } from '../../support/ask.ts';
import { temporaryFolder } from '../../support/files.ts';
import { type Network, startNetwork } from '../../support/network.ts';
import { freePort } from '../../support/ports.ts';
import { portOf, type Running, SURROUNDINGS, start, waitFor } from '../../support/program.ts';
import { RedisServer, startRedis } from '../../support/redis.ts';

const FAST_REPLICA = join(import.meta.dirname, 'fast-replica.ts');
/** A second of writes is lost with a server that dies. */
const REDIS_ARGS = ['--save', '', '--appendonly', 'yes', '--repl-diskless-sync-delay', '0'];

export interface ClusterOptions {
  /** The config of one replica, without its state. */
  readonly config: (replica: number) => string;
  readonly key: string;
  readonly replicas: number;
  /** By default those of the program. */
  readonly timings?: LeaseTimings;
  /** What is wrong with the wall clock of each. */
  readonly skewsMs?: readonly number[];
}

/** One replica over all its lives, behind a network of its own. */
export interface Node {
  readonly number: number;
  readonly network: Network;
  readonly file: string;
  /** Every process so far, the living one last. */
  readonly lives: Running[];
}

/** Replicas as processes, and the Redis that they share, with another one to fail over to. */
export class Cluster {
  readonly nodes: readonly Node[];
  /** Processes that were told to end, and when (Unix ms): from then on they need not answer. */
  readonly ending = new Map<Running, number>();
  readonly #options: ClusterOptions;
  #primary: RedisServer;
  #standby: RedisServer | undefined;
  /** Between primary and standby. */
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

  /** Ends the process of a replica, and starts another one. */
  async restart(node: Node, signal: NodeJS.Signals): Promise<void> {
    const life = lifeOf(node);
    this.ending.set(life, Date.now());
    await life.stop(signal);
    this.start(node);
  }

  /** Kills everything, so that it takes no time from what comes after. */
  async end(): Promise<void> {
    await Promise.all(this.nodes.flatMap(({ lives }) => lives.map((life) => life.stop('SIGKILL'))));
    await this.#standby?.kill();
    await this.#primary.kill();
  }

  /** Unix ms; Infinity: it was not told to end. */
  endOf(life: Running): number {
    return this.ending.get(life) ?? Number.POSITIVE_INFINITY;
  }

  /** Starts a process again that has refused to start while the server was away, as Kubernetes does. Returns how to end that. */
  keepAlive(): () => void {
    const timer = setInterval(() => {
      for (const node of this.nodes) if (lifeOf(node).child.exitCode === 1) this.start(node);
    }, 200);
    return () => clearInterval(timer);
  }

  /** The replica that says it polls, of several the last to say so: others may be paused. Undefined: none does. */
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

  /** Starts a server that copies what the primary writes. */
  async addStandby(): Promise<void> {
    this.#replication ??= await startNetwork(this.#primary.port);
    this.#replication.target = this.#primary.port;
    this.#standby = new RedisServer(await freePort(), REDIS_ARGS);
    await this.#standby.start();
    await this.#standby.command('REPLICAOF', '127.0.0.1', String(this.#replication.port));
    await this.inSync();
  }

  /** Resolves when the standby has everything. */
  async inSync(): Promise<void> {
    await waitFor(async () => {
      const text = String(await this.#standby?.command('INFO', 'replication'));
      if (!text.includes('master_link_status:up')) throw new Error('the standby is not in sync');
    });
  }

  /** From now on the standby gets nothing. */
  stopCopying(): void {
    this.#replication?.cut();
  }

  /** The primary dies; the standby, which lacks what was written last, takes its place. */
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

/** The living process of a replica. */
export function lifeOf({ number, lives }: Node): Running {
  const life = lives.at(-1);
  if (!life) throw new TypeError(`replica ${number} was not started`);
  return life;
}

export function isAlive({ lives }: Node): boolean {
  const child = lives.at(-1)?.child;
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}

/** When a process began and ceased to poll, Unix ms, as it tells itself. */
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
