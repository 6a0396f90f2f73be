import { spend, usedOfMonth } from '../../../src/sandbox/account.ts';
import { Sandbox, type SandboxOptions } from '../../../src/sandbox/world.ts';
import { HOUR, MINUTE, NOW, SECOND } from '../../support/time/timing.ts';
import { drawStory } from '../draw.ts';
import { numberOf, type Scrape, seriesIn, seriesNamed } from '../scrape.ts';
import { type NetworkSetting, NO_FAULTS } from '../service/network.ts';
import type { Sent } from '../traffic.ts';
import { World } from '../world.ts';

/** What a written story begins with. */
export interface Scene {
  /** Unix ms. Default: `NOW`. */
  readonly start?: number;
  readonly sandbox?: SandboxOptions;
  /** The configuration file. Default: an empty one. */
  readonly file?: object;
  /** Default: 50 ms. */
  readonly latency?: NetworkSetting['latency'];
  /** The story has few polls: between them the loop of the program sleeps for longer. */
  readonly isLong?: boolean;
}

const LONG = { refreshMs: HOUR, napMs: HOUR };
const VIEWS = { latest: true, finalized: true, committee: true };
/** A supervisor starts it again after 5 s. */
const RESTARTED_MS = 6 * SECOND;

/**
 * A story that a test writes: the whole exporter in the world of the simulation, whose service is a sandbox. What is shown
 * is read from /metrics, what was sent from the traffic, and what is true from the sandbox.
 */
export class Played {
  readonly world: World;
  readonly sandbox: Sandbox;
  /** The requests since the start, or since the last restart. */
  readonly requests: Sent[] = [];

  constructor({ start = NOW, sandbox, file = {}, latency = { low: 50, high: 50 }, isLong = false }: Scene) {
    this.sandbox = new Sandbox(sandbox);
    // Of what is drawn, nothing is left that the sandbox or the file do not replace.
    const { setting, ...story } = drawStory(1);
    const service = { ...setting.service, views: VIEWS, clockAheadMs: 0 };
    const { key } = this.sandbox.account;
    const exporter = { ...setting.exporter, refreshMs: MINUTE, ...(isLong && LONG), key, file };
    const network = { latency, faults: NO_FAULTS };
    this.world = new World({ ...story, start, events: [], setting: { service, network, exporter } }, this.sandbox);
    this.world.host.start();
  }

  get now(): number {
    return this.world.clock.now();
  }

  async until(at: number): Promise<void> {
    await this.world.clock.advanceTo(at);
    for (const event of this.world.traffic.take()) if (event.kind === 'sent') this.requests.push(event.sent);
  }

  async advance(ms: number): Promise<void> {
    await this.until(this.now + ms);
  }

  /** Each hour of so many days, after something has happened at its beginning. */
  async eachHour(days: number, happen: (hour: number) => void): Promise<void> {
    for (let hour = 0; hour < days * 24; hour += 1) {
      happen(hour);
      await this.advance(HOUR);
    }
  }

  /** Stops the program, and starts it again with its documents. */
  async restart(downMs = 0): Promise<void> {
    this.world.host.restart(downMs);
    await this.until(Math.max(this.now + downMs, this.now + RESTARTED_MS));
    const { process } = this.world.host;
    const since = this.requests.filter((one) => one.process === process?.number);
    this.requests.splice(0, this.requests.length, ...since);
  }

  /** The requests of the program fail. */
  cutFor(ms: number): void {
    this.world.network.cut(this.now + ms, 'refused');
  }

  /** /metrics as it is now. */
  get metrics(): string {
    const { program } = this.world.host.process ?? {};
    if (!program) throw new RangeError(`the program does not run: ${this.world.host.lastEnd}`);
    return program.metrics();
  }

  /** The value of a series, written as in /metrics without `beaconchain_`. */
  shown(series: string): number | undefined {
    const { metrics } = this;
    const written = `\nbeaconchain_${series} `;
    const start = metrics.indexOf(written);
    if (start === -1) return undefined;
    return numberOf(metrics.slice(start + written.length, metrics.indexOf('\n', start + 1)));
  }

  /** The values of a family by the labels of its series, as written. `name`: without `beaconchain_`. */
  family(name: string): Map<string, number> {
    const scrape = { series: seriesIn(this.metrics) } as Scrape;
    return new Map(seriesNamed(scrape, `beaconchain_${name}`).map(([labels, value]) => [labels, value]));
  }

  /** The log of the process, each line parsed. */
  get log(): readonly Readonly<Record<string, unknown>>[] {
    return (this.world.host.process?.lines ?? []).map((line) => JSON.parse(line));
  }

  /** What all users of the account have used of the month, just before now. */
  get used(): number {
    return usedOfMonth(this.sandbox.account, this.now - 1);
  }

  /** Other programs on the account send this many requests. */
  othersSpend(requests: number): void {
    if (requests > 0) spend(this.sandbox.account, requests, this.now);
  }

  /** The statuses of the answers, without requests that had none. */
  get statuses(): number[] {
    return this.requests.flatMap(({ head }) => head?.status ?? []);
  }
}
