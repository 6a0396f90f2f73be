import { DAY } from '../support/timing.ts';
import { SimulatedDisk } from './disk.ts';
import { type Deadline, type ExporterProcess, POWER_LOST } from './exporter-process.ts';
import { STATE_DIR } from './exporter-setting.ts';
import { startProcess } from './exporter-start.ts';
import { HostWatch } from './host-watch.ts';
import type { Random } from './random.ts';
import { RedisNetwork } from './redis-network.ts';
import { ownerOf } from './redis-record.ts';
import { StoredVersions } from './stored-versions.ts';
import type { World } from './world.ts';

/** A supervisor such as systemd starts a process again after this time. */
const RESTART_MS = 5_000;

/** A machine that runs the exporter: its disk, its clock, and one process at a time, which a supervisor restarts. */
export class ExporterHost {
  readonly name: string;
  readonly disk: SimulatedDisk;
  readonly redisNetwork: RedisNetwork;
  readonly #world: World;
  #process: ExporterProcess | undefined;
  /** How far its clock is ahead of true time, ms. */
  #clockOffsetMs = 0;
  #isWanted = true;
  /** A supervisor starts a process again after this time. */
  #downMs = RESTART_MS;
  /** Why the last process ended. */
  lastEnd = '';
  /** When a process last ended. */
  downSince = Number.POSITIVE_INFINITY;
  /** What was written to the disk. */
  readonly versions: StoredVersions;
  /** How often a process started without all of the state that earlier ones had written. */
  losses = 0;
  /** When a process last did. */
  lostStateAt = Number.NEGATIVE_INFINITY;
  /** Until then a document is there that a newer version has written. */
  newerStateUntil = Number.NEGATIVE_INFINITY;
  /** Something else than a process has changed the state. */
  #isStateSpoilt = false;
  /** How long each call to the disk takes, ms. */
  diskLatencyMs: readonly [low: number, high: number] = [0, 0];
  /** When the disk last failed or was slow. */
  #diskTroubleAt = Number.NEGATIVE_INFINITY;
  #redisTroubleAt = Number.NEGATIVE_INFINITY;
  readonly #random: Random;
  readonly #watch: HostWatch;

  constructor(world: World, name: string) {
    this.name = name;
    this.#world = world;
    const random = world.random.fork(name);
    this.#random = random.fork('disk');
    this.versions = new StoredVersions(() => world.clock.now());
    this.disk = new SimulatedDisk(() => world.clock.now() + this.#clockOffsetMs);
    this.redisNetwork = new RedisNetwork(world.clock, random.fork('way to redis'));
    this.#watch = new HostWatch(this, (state) => world.reach(state));
  }

  /** The current process, which may still be starting. */
  get process(): ExporterProcess | undefined {
    return this.#process;
  }

  get clockOffsetMs(): number {
    return this.#clockOffsetMs;
  }

  /** Starts a process unless one runs. */
  start(): void {
    this.#isWanted = true;
    if (!this.#process) this.#launch();
  }

  /** When something was last wrong with its disk. */
  get diskTroubleAt(): number {
    if (this.disk.isFaulty || this.diskLatencyMs[1] > 0) this.noteDiskTrouble();
    return this.#diskTroubleAt;
  }

  /** When something was last wrong with its way to Redis. */
  get redisTroubleAt(): number {
    if (this.redisNetwork.isFaulty) this.noteRedisTrouble();
    return this.#redisTroubleAt;
  }

  noteDiskTrouble(): void {
    this.#diskTroubleAt = this.#world.clock.now();
  }

  noteRedisTrouble(): void {
    this.#redisTroubleAt = this.#world.clock.now();
  }

  /** When its process was last paused, or is. */
  get pausedAt(): number {
    const { clock } = this.#process ?? {};
    return Math.min(this.#world.clock.now(), clock?.resumesAt ?? Number.NEGATIVE_INFINITY);
  }

  /** Something else than a process has changed or removed files of the state. */
  spoilState(): void {
    this.versions.forget();
    this.#isStateSpoilt = true;
    // A process that starts may read it only now.
    if (this.#process && !this.#process.hasStarted) this.#noteLoss();
  }

  #noteLoss(): void {
    this.losses += 1;
    this.lostStateAt = this.#world.clock.now();
  }

  /** Sets the clock of the machine. */
  setClock(offsetMs: number): void {
    const { clock, traffic } = this.#world;
    const now = clock.now();
    traffic.note({ kind: 'step', at: now, host: this.name, byMs: offsetMs - this.#clockOffsetMs });
    this.#watch.onClock(now + this.#clockOffsetMs, now + offsetMs);
    this.#clockOffsetMs = offsetMs;
    this.#process?.clock.setOffset(offsetMs);
  }

  /** SIGTERM, and a start `downMs` later. */
  restart(downMs: number): void {
    this.#isWanted = false;
    this.#watch.onStop();
    this.#process?.stop();
    this.#world.clock.after(downMs, () => this.start());
  }

  /** Nothing of the process runs for a while. */
  pause(ms: number, isSuspended: boolean): void {
    this.#watch.onPause(ms, this.#leaseOf());
    this.#process?.clock.pause(ms, isSuspended);
  }

  /** kill -9, now or after some more calls, and a start `downMs` later. */
  kill(downMs: number, after?: Deadline): void {
    if (after) {
      this.#downMs = downMs;
      this.#process?.dieAfter(after);
      return;
    }
    this.#isWanted = false;
    this.#process?.die('kill -9');
    this.#world.clock.after(downMs, () => this.start());
  }

  /** The process is killed, and `change` is made before the next one starts. */
  upgrade(downMs: number, change: (host: ExporterHost) => void): void {
    this.#isWanted = false;
    this.#process?.die('kill -9');
    change(this);
    this.#world.clock.after(downMs, () => this.start());
  }

  /** The machine loses power, now or after some more calls. What was not synced may be lost. */
  losePower(downMs: number, after?: Deadline): void {
    if (after) {
      this.#downMs = downMs;
      this.#process?.dieAfter({ ...after, takesPower: true });
      return;
    }
    this.#isWanted = false;
    this.#process?.die(POWER_LOST);
    this.#reboot();
    this.#world.clock.after(downMs, () => this.start());
  }

  #reboot(): void {
    if (this.disk.hasLied) this.spoilState();
    this.disk.loseWhatIsNotSynced(this.#world.random.fork(`loss of power ${this.name} ${this.#world.clock.now()}`));
  }

  /** The disk, the clock and the network are as they should be, and the process runs. */
  calm(): void {
    this.noteDiskTrouble();
    this.noteRedisTrouble();
    this.disk.calm();
    this.diskLatencyMs = [0, 0];
    this.redisNetwork.calm();
    this.#process?.dieAfter(undefined);
    this.setClock(0);
    this.#process?.clock.resume();
    this.start();
  }

  #launch(): void {
    const { clock, exporter } = this.#world;
    this.#watch.onLaunch(clock.now(), clock.now() + this.#clockOffsetMs, exporter.catchUpDays * DAY, this.#leaseOf());
    const wrong = this.versions.problemIn(this.disk.filesIn(STATE_DIR));
    if (wrong !== undefined) this.#world.fail('state: a start finds what was written last', wrong);
    if (this.#isStateSpoilt) this.#noteLoss();
    this.#isStateSpoilt = false;
    this.versions.failed = 0;
    const process = this.#create((why) => {
      const counted = this.#world.service.records.requests.findLast((one) => one.process === this.name);
      if (!/^(stopped|refused)/.test(why))
        this.#watch.onDeath(!process.hasStarted, counted?.countedAt ?? Number.NEGATIVE_INFINITY);
      this.#process = undefined;
      // At its own call; otherwise the disk follows.
      if (why === POWER_LOST && this.#isWanted) this.#reboot();
      this.lastEnd = why;
      this.downSince = clock.now();
      this.#world.onEnd(this, process, why);
      if (this.#isWanted) clock.after(this.#downMs, () => this.start());
      this.#downMs = RESTART_MS;
    });
    this.#process = process;
  }

  #create(onEnd: (why: string) => void): ExporterProcess {
    const place = { world: this.#world, host: this, watch: this.#watch, random: this.#random };
    return startProcess(place, onEnd);
  }

  /** Who holds the lease: `host-number` of a process. */
  #leaseOf(): string {
    return ownerOf(this.#world.redis?.record.term?.value);
  }
}
