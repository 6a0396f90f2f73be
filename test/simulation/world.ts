import type { Settings } from '../../src/exporter/settings.ts';
import type { AccountLimits } from '../../src/sandbox/account.ts';
import type { Sandbox } from '../../src/sandbox/world.ts';
import { WorldClock } from './clock.ts';
import { configOf, type ExporterSetting } from './exporter-setting.ts';
import { Host } from './host.ts';
import { Random } from './random.ts';
import { Network } from './service/network.ts';
import { Service } from './service/service.ts';
import type { Failure, Story } from './story.ts';
import { Traffic } from './traffic.ts';

/** Everything in a story: the account and its service, the machine that runs the exporter, and what becomes of them. */
export class World {
  readonly story: Story;
  readonly clock: WorldClock;
  readonly random: Random;
  readonly service: Service;
  readonly network: Network;
  readonly host: Host;
  readonly traffic = new Traffic();
  /** The configuration file has a mistake. */
  isFileBroken = false;
  /** How the exporter is configured now. */
  exporter: ExporterSetting;
  /** The configuration that a process read last. Without a reload it is an earlier one. */
  lastRead: ExporterSetting;
  /** When the trouble ended, Unix ms. */
  calmSince = Number.POSITIVE_INFINITY;
  /** The first thing that was wrong. */
  failure: Failure | undefined;

  /** @param sandbox What the service shows, in place of what is drawn from the story. */
  constructor(story: Story, sandbox?: Sandbox) {
    const { seed, start, setting } = story;
    this.story = story;
    this.exporter = setting.exporter;
    this.lastRead = setting.exporter;
    this.clock = new WorldClock(start);
    this.random = new Random(seed, 'world');
    this.service = new Service(setting.service, start, sandbox);
    this.network = new Network(setting.network);
    this.host = new Host(this);
  }

  /** Notes that something that must always hold does not. */
  fail(check: string, message: string): void {
    this.failure ??= { check, message, at: this.clock.now() - this.story.start };
  }

  /** The trouble is over. */
  get isCalm(): boolean {
    return this.clock.now() >= this.calmSince;
  }

  /** Ends all trouble: from now on everything can become right again by itself, and must. */
  calm(): void {
    const now = this.clock.now();
    this.calmSince = now;
    this.service.calm(now);
    this.service.account.key = this.exporter.key;
    this.traffic.note({ kind: 'plan', at: now });
    this.isFileBroken = false;
    this.network.calm();
    this.host.calm();
    this.reload();
  }

  /** Requests of other users of the account. */
  spend(requests: number): void {
    const at = this.clock.now();
    this.service.spend(requests, at);
    this.traffic.note({ kind: 'others', at, requests });
  }

  setPlan(plan: AccountLimits): void {
    this.service.account.plan = plan;
    this.traffic.note({ kind: 'plan', at: this.clock.now() });
  }

  /** Changes the configuration file, which a process reads at a start or a reload. */
  configure(changes: Partial<ExporterSetting>): void {
    this.exporter = { ...this.exporter, ...changes };
  }

  /** The operator gives the exporter another key of the account. */
  giveAnotherKey(key: string): void {
    this.service.account.key = key;
    this.configure({ key });
    this.reload();
  }

  /** The operator tells the process to read its configuration again. */
  reload(): void {
    this.host.process?.reload();
  }

  /** What a process finds in its configuration file. @throws Error that says what is wrong with it */
  readSettings(kind: 'start' | 'reload', process: number): Settings {
    if (this.isFileBroken) throw new Error('config.yaml:3: mistake');
    const { exporter } = this;
    this.traffic.note({ kind, at: this.clock.now(), process, exporter });
    this.lastRead = exporter;
    return { config: configOf(exporter), key: exporter.key };
  }
}
