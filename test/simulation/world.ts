import type { Settings } from '../../src/exporter/settings.ts';
import type { Chain } from '../../src/lib/chain.ts';
import { WorldClock } from './clock.ts';
import { ExporterHost } from './exporter-host.ts';
import type { ExporterProcess } from './exporter-process.ts';
import type { ExporterSetting } from './exporter-setting.ts';
import { configOf, REDIS_PREFIX } from './exporter-setting.ts';
import { Random } from './random.ts';
import { AnswerWatch } from './rare/answers.ts';
import { SimulatedRedis } from './redis.ts';
import { RedisWatch } from './redis-watch.ts';
import { Network } from './service/network.ts';
import { Service } from './service/service.ts';
import type { Plan } from './service/setting.ts';
import type { Failure } from './shrink-search.ts';
import type { RareState } from './sometimes.ts';
import type { Story } from './story.ts';
import { Traffic } from './traffic.ts';

/** The end of a process. */
export interface Ended {
  readonly host: string;
  readonly process: number;
  readonly at: number;
  readonly why: string;
  readonly startedAt: number;
  /** When it was told to stop. */
  readonly stoppingSince: number | undefined;
  /** When it last ran again after a pause; -Infinity: it was never paused. */
  readonly pausedUntil: number;
}

/** Everything in a story: the account and its service, the machines that run the exporter, and what becomes of them. */
export class World {
  readonly story: Story;
  readonly clock: WorldClock;
  readonly random: Random;
  readonly service: Service;
  readonly network: Network;
  readonly redis: SimulatedRedis | undefined;
  readonly hosts: readonly ExporterHost[];
  readonly reached = new Set<RareState>();
  readonly ends: Ended[] = [];
  readonly traffic = new Traffic();
  /** The configuration file has a mistake. */
  isFileBroken = false;
  #redisTroubleAt = Number.NEGATIVE_INFINITY;
  /** How the exporter is configured now. */
  exporter: ExporterSetting;
  /** The configuration that a process read last. Without a reload it is an earlier one. */
  lastRead: ExporterSetting;
  /** The trouble is over. */
  isCalm = false;
  /** When it ended, Unix ms. */
  calmSince = Number.POSITIVE_INFINITY;
  #failure: Failure | undefined;
  #processes = 0;
  #hasChangedChains = false;
  readonly #chainsOff = new Set<Chain>();

  constructor(story: Story) {
    const { seed, start, setting } = story;
    this.story = story;
    this.exporter = setting.exporter;
    this.lastRead = setting.exporter;
    this.clock = new WorldClock(start);
    this.random = new Random(seed, 'world');
    this.service = new Service(setting.service, this.random.fork('service'), start);
    this.service.records.onCounted = (exchange, request) => {
      const sent = this.traffic.of(request);
      if (sent) this.traffic.note({ kind: 'counted', at: exchange.countedAt, sent, exchange });
    };
    const answers = new AnswerWatch(
      this.service,
      () => this.exporter.chains.length > 1,
      (state) => this.reach(state),
    );
    this.service.onServed = (served, request, now) => answers.see(served, request, now);
    this.network = new Network(setting.network);
    const { replicas } = setting.exporter;
    this.redis = replicas > 0 ? new SimulatedRedis(this.clock, REDIS_PREFIX) : undefined;
    if (this.redis) this.redis.watch = new RedisWatch(this.redis, this);
    const names = replicas > 0 ? ['a', 'b', 'c'].slice(0, replicas) : ['a'];
    this.hosts = names.map((name) => new ExporterHost(this, name));
  }

  /** The first thing that was wrong. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** ms since the start. */
  get elapsed(): number {
    return this.clock.now() - this.story.start;
  }

  /** Notes that something that must always hold does not. */
  fail(check: string, message: string): void {
    this.#failure ??= { check, message, at: this.elapsed };
  }

  /** When something was last wrong with Redis, or with what it has. */
  get redisTroubleAt(): number {
    const { isDown, isReadOnly, isFull } = this.redis ?? {};
    if (isDown || isReadOnly || isFull) this.noteRedisTrouble();
    return this.#redisTroubleAt;
  }

  noteRedisTrouble(): void {
    this.#redisTroubleAt = this.clock.now();
  }

  /** Sets the clock of Redis, by which the replicas go. */
  stepRedisClock(ms: number): void {
    this.redis?.stepClock(ms);
    this.#noteStep(ms);
  }

  #noteStep(byMs: number): void {
    if (byMs === 0) return;
    for (const { name } of this.hosts) this.traffic.note({ kind: 'step', at: this.clock.now(), host: name, byMs });
  }

  reach(state: RareState): void {
    this.reached.add(state);
  }

  /** Ends all trouble: from now on everything can become right again by itself, and must. */
  calm(): void {
    this.isCalm = true;
    this.calmSince = this.clock.now();
    this.service.calm(this.clock.now());
    this.service.account.forbidden.clear();
    this.service.account.key = this.exporter.key;
    this.traffic.note({ kind: 'plan', at: this.clock.now() });
    this.isFileBroken = false;
    this.network.calm();
    if (this.redis) this.#noteStep(this.clock.now() - this.redis.now());
    this.redis?.calm();
    for (const host of this.hosts) host.calm();
    this.reload();
  }

  /** Requests of other users of the account. */
  spend(requests: number): void {
    const now = this.clock.now();
    const { perMonth = Number.POSITIVE_INFINITY } = this.service.account.plan;
    const isUsedUp = (): boolean =>
      [...this.service.account.counted(now).values()].some(({ month }) => month.ours + month.theirs >= perMonth);
    const before = isUsedUp();
    this.service.account.spend(requests, now);
    if (!before && isUsedUp()) this.reach('the last request of a quota taken by others');
    this.traffic.note({ kind: 'others', at: this.clock.now(), requests });
  }

  setPlan(plan: Plan): void {
    this.service.account.plan = plan;
    this.traffic.note({ kind: 'plan', at: this.clock.now() });
  }

  /** Whether some chain has not been configured all the time. */
  get hasChangedChains(): boolean {
    return this.#hasChangedChains;
  }

  /** Changes the configuration file, which the processes read when they start or are told to. */
  configure(changes: Partial<ExporterSetting>): void {
    this.#hasChangedChains ||= changes.chains !== undefined;
    for (const chain of changes.chains ?? [])
      if (this.#chainsOff.has(chain)) this.reach('a source back after a reload');
    for (const chain of this.exporter.chains) {
      if (changes.chains && !changes.chains.includes(chain)) this.#chainOff(chain);
    }
    this.exporter = { ...this.exporter, ...changes };
  }

  #chainOff(chain: Chain): void {
    this.#chainsOff.add(chain);
    const isUnderWay = this.traffic.newest.some((sent) => sent.endedAt === undefined && sent.source.endsWith(chain));
    if (isUnderWay) this.reach('a poll in progress when a reload removes its source');
  }

  /** The operator gives the exporter the key of another subscription, whose quota is full. */
  giveAnotherKey(key: string): void {
    this.service.account.key = key;
    this.configure({ key });
    this.reload();
  }

  /** The operator tells every process to read its configuration again. */
  reload(): void {
    for (const { process } of this.hosts) {
      if (process?.isReloading) this.reach('a reload during a reload');
      process?.reload();
    }
  }

  /** What a process finds in its configuration file. @throws Error that says what is wrong with it */
  readConfiguration(kind: 'start' | 'reload', host: string, process: number): Settings {
    if (this.isFileBroken) throw new Error('config.yaml:3: mistake');
    const { exporter } = this;
    this.traffic.note({ kind, at: this.clock.now(), host, process, exporter });
    this.lastRead = exporter;
    return { config: configOf(exporter), key: exporter.key };
  }

  host(name: string): ExporterHost {
    const host = this.hosts.find((one) => one.name === name) ?? this.hosts[0];
    if (!host) throw new RangeError(`no host ${name}`);
    return host;
  }

  nextProcess(): number {
    this.#processes += 1;
    return this.#processes;
  }

  onEnd({ name }: ExporterHost, { number, startedAt, stoppingSince, clock }: ExporterProcess, why: string): void {
    const times = { at: this.clock.now(), startedAt, stoppingSince, pausedUntil: clock.resumesAt };
    this.ends.push({ host: name, process: number, why, ...times });
    this.traffic.note({ kind: 'ended', at: this.clock.now(), host: name, process: number, why });
  }
}
