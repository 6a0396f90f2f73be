import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openState, StateRefused } from '../../src/exporter/state.ts';
import type { Logger } from '../../src/lib/log.ts';
import { FileStore } from '../../src/state/file.ts';
import { StateLocked } from '../../src/state/lock.ts';
import { logLines } from '../support/log-lines.ts';
import { NOW, SECOND } from '../support/timing.ts';
import { settled, VirtualClock } from '../support/virtual-clock.ts';
import { diskOf, SimulatedDisk } from './disk.ts';
import { type DiskFailure, READ_ONLY } from './disk-faults.ts';
import type { Gate } from './gate.ts';
import { SimulatedHost, type SimulatedProcess } from './host.ts';
import { Random } from './random.ts';

const DIR = '/var/lib/exporter';
const Value = z.array(z.string());
const OLD = ['old'];
const NEW = Array.from({ length: 20 }, (_, i) => `new ${i}`);

/** A process, which can be killed before any of its calls. */
class Process implements Gate {
  readonly machine: SimulatedProcess;
  readonly lines: readonly Record<string, unknown>[];
  calls = 0;
  dies = Number.POSITIVE_INFINITY;
  readonly #world: World;
  readonly #log: Logger;
  readonly #random: Random;

  constructor(world: World, machine: SimulatedProcess) {
    this.#world = world;
    this.machine = machine;
    ({ log: this.#log, lines: this.lines } = logLines());
    this.#random = world.random.fork(`process ${machine.pid}`);
  }

  async call<T>(_name: string, effect: () => T): Promise<T> {
    for (let left = this.#random.scale(1, 60); left > 0; left -= 1) await Promise.resolve();
    if (this.calls >= this.dies) return new Promise(() => undefined);
    this.calls += 1;
    return effect();
  }

  /** As kill -9. */
  kill(): void {
    this.dies = this.calls;
    this.machine.end();
  }

  open(): Promise<FileStore> {
    const { clock, disk } = this.#world;
    return openState(DIR, clock, this.#log, { disk: diskOf(disk, this), host: this.machine });
  }
}

class World {
  readonly clock = new VirtualClock(NOW);
  readonly disk = new SimulatedDisk(() => this.clock.now());
  readonly host = new SimulatedHost('server');
  readonly random: Random;

  constructor(seed = 1) {
    this.random = new Random(seed, 'world');
  }

  start(host = this.host): Process {
    return new Process(this, host.start());
  }
}

interface Attempt {
  /** Undefined until it has ended. */
  outcome?: FileStore | Error;
}

function opening(process: Process): Attempt {
  const attempt: Attempt = {};
  const note = (outcome: FileStore | Error): void => {
    attempt.outcome = outcome;
  };
  process.open().then(note, note);
  return attempt;
}

describe('the state directory on the simulated disk', () => {
  it('is made, and keeps documents over restarts', async () => {
    const world = new World();
    const store = await world.start().open();
    expect(await store.load('machines', Value)).toBeUndefined();
    await store.save('machines', OLD);
    await store.save('machines', NEW);
    expect([...world.disk.filesIn(DIR).keys()].toSorted()).toEqual(['lock', 'machines.json']);
    await settled(world.clock, store.close());
    expect([...world.disk.filesIn(DIR).keys()]).toEqual(['machines.json']);
    const later = world.start();
    expect(await (await later.open()).load('machines', Value)).toEqual(NEW);
    expect(later.lines).toEqual([]);
  });

  it('sets aside what it cannot read, and restricts what others could read', async () => {
    const world = new World();
    world.disk.put(`${DIR}/machines.json`, '{', { mode: 0o666 });
    const process = world.start();
    expect(await (await process.open()).load('machines', Value)).toBeUndefined();
    const aside = `${DIR}/machines.json.unreadable-${NOW}`;
    expect(world.disk.stat(aside).mode & 0o777).toBe(0o600);
    expect(process.lines).toEqual([expect.objectContaining({ level: 'warn', moved_to: aside })]);
  });

  it('is made again when an operator removes it', async () => {
    const world = new World();
    const store = await world.start().open();
    await store.save('machines', OLD);
    world.disk.remove(DIR);
    await store.save('machines', NEW);
    await world.clock.advance(6 * SECOND);
    expect([...world.disk.filesIn(DIR).keys()].toSorted()).toEqual(['lock', 'machines.json']);
  });

  it.each<[string, DiskFailure]>([
    ['every write fails', { code: 'EIO', calls: ['write'] }],
    ['every third sync fails', { code: 'EIO', calls: ['sync', 'sync directory'], each: 3 }],
    ['it is read-only', READ_ONLY],
    ['no file can be opened', { code: 'EMFILE', calls: ['create', 'open', 'read file'] }],
    ['no file can be replaced', { code: 'EDQUOT', calls: ['rename'] }],
  ])('keeps what is written while %s, and is held and written again afterwards', async (_, failure) => {
    const world = new World();
    const first = world.start();
    const store = await first.open();
    await store.save('machines', OLD);
    world.disk.failing.add(failure);
    const saves = await Promise.allSettled([1, 2, 3].map(() => store.save('machines', OLD)));
    expect(saves).toContainEqual({ status: 'rejected', reason: expect.objectContaining({ code: failure.code }) });
    await world.clock.advance(3_600 * SECOND);
    world.disk.failing.delete(failure);
    expect(await store.load('machines', Value)).toEqual(OLD);
    expect([...world.disk.filesIn(DIR).keys()].toSorted()).toEqual(['lock', 'machines.json']);
    await store.save('machines', NEW);
    expect(await store.load('machines', Value)).toEqual(NEW);
  });

  it('keeps what is written while it is full, and is written again when there is room', async () => {
    const world = new World();
    const store = await world.start().open();
    await store.save('machines', OLD);
    world.disk.room = 100;
    await expect(store.save('machines', NEW)).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(await store.load('machines', Value)).toEqual(OLD);
    expect(world.disk.room).toBe(100);
    world.disk.room = 10_000;
    await store.save('machines', NEW);
    expect(await store.load('machines', Value)).toEqual(NEW);
  });

  describe('is locked', () => {
    it('and refused to a second process, whether it can look the first one up or not', async () => {
      const world = new World();
      const first = world.start();
      const store = await first.open();
      await expect(world.start().open()).rejects.toThrow(`in use by process ${first.machine.pid} on server`);
      const stranger = opening(world.start(new SimulatedHost('another')));
      await world.clock.advance(20 * SECOND);
      expect(stranger.outcome).toBeInstanceOf(StateRefused);
      await store.save('machines', NEW);
    });

    it('and after kill -9 taken over at once by a process that can look the holder up', async () => {
      const world = new World();
      const first = world.start();
      await (await first.open()).save('machines', OLD);
      first.kill();
      const second = opening(world.start());
      await world.clock.advance(0);
      expect(second.outcome).toBeInstanceOf(FileStore);
    });

    it.each([0, 10, 20, 100])(
      'and %i s after kill -9 taken over by a process that cannot look the holder up, after 15 to 30 s',
      async (age) => {
        const world = new World();
        const first = world.start();
        await (await first.open()).save('machines', OLD);
        first.kill();
        await world.clock.advance(age * SECOND);
        const process = world.start(new SimulatedHost('server', 'pid:[2]'));
        const second = opening(process);
        const wait = Math.max(15, 30 - age);
        await world.clock.advance((wait - 1) * SECOND);
        expect(process.lines).toEqual([expect.objectContaining({ seconds: wait })]);
        expect(second.outcome).toBeUndefined();
        await world.clock.advance(1.2 * SECOND);
        expect(second.outcome).toBeInstanceOf(FileStore);
        expect(await (second.outcome as FileStore).load('machines', Value)).toEqual(OLD);
      },
    );

    it('by exactly one of several processes that find a dead holder at once, in whatever order they call', async () => {
      for (let seed = 0; seed < 100; seed += 1) {
        const world = new World(seed);
        const first = world.start();
        await first.open();
        first.kill();
        const tries = await settled(world.clock, Promise.allSettled([1, 2, 3, 4].map(() => world.start().open())));
        expect(tries.map(({ status }) => status).toSorted(), `seed ${seed}`).toEqual([
          ...['fulfilled', 'rejected', 'rejected', 'rejected'],
        ]);
      }
    });

    it('by a process that is suspended and finds that another has taken over: it does not write any more', async () => {
      const world = new World();
      const first = await world.start().open();
      await first.save('machines', OLD);
      world.disk.put(`${DIR}/lock`, JSON.stringify(new SimulatedHost('another').start().thisProcess()));
      await expect(first.save('machines', NEW)).rejects.toBeInstanceOf(StateLocked);
    });
  });

  describe('leaves the old or the new document', () => {
    /** Saves OLD, then dies at this call of saving NEW. */
    async function savingUntil(world: World, call: number): Promise<{ isSaid: boolean }> {
      const process = world.start();
      const store = await process.open();
      await store.save('machines', OLD);
      process.calls = 0;
      process.dies = call;
      const result = { isSaid: false };
      store.save('machines', NEW).then(() => {
        result.isSaid = true;
      });
      await world.clock.advance(0);
      process.kill();
      return result;
    }

    /** What the next process finds, after a wait for the lock where it needs one. */
    async function found(world: World): Promise<{ value: unknown; names: string[]; lines: unknown[] }> {
      const process = world.start();
      const next = opening(process);
      await world.clock.advance(31 * SECOND);
      const value = await (next.outcome as FileStore).load('machines', Value);
      const names = [...world.disk.filesIn(DIR).keys()].toSorted();
      return { value, names, lines: process.lines.filter(({ msg }) => !String(msg).includes('is locked')) };
    }

    const CALLS = 30;

    it('wherever the process is killed', async () => {
      const values = new Set<unknown>();
      for (let call = 0; call < CALLS; call += 1) {
        const world = new World();
        world.disk.bytesPerWrite = 50;
        const { isSaid } = await savingUntil(world, call);
        const { value, names, lines } = await found(world);
        expect(isSaid ? [NEW] : [OLD, NEW]).toContainEqual(value);
        expect({ names, lines }).toEqual({ names: ['lock', 'machines.json'], lines: [] });
        values.add(`${isSaid} ${value}`);
      }
      expect(values).toEqual(new Set([`false ${OLD}`, `false ${NEW}`, `true ${NEW}`]));
    });

    async function losingPower(prepare: (world: World) => void): Promise<Set<string>> {
      const values = new Set<string>();
      for (let call = 0; call < CALLS; call += 1) {
        for (let seed = 0; seed < 10; seed += 1) {
          const world = new World(seed);
          world.disk.bytesPerWrite = 50;
          prepare(world);
          const { isSaid } = await savingUntil(world, call);
          world.host.reboot();
          world.disk.loseWhatIsNotSynced(world.random.fork('loss'));
          const { value } = await found(world);
          values.add(`${isSaid} ${value}`);
        }
      }
      return values;
    }

    it('wherever the power goes', async () => {
      expect(await losingPower(() => undefined)).toEqual(new Set([`false ${OLD}`, `false ${NEW}`, `true ${NEW}`]));
    });

    it('but not on a disk that lies about sync: that is noticed here', async () => {
      const lying = await losingPower(({ disk }) => {
        disk.liesAboutSync = true;
      });
      expect(lying).toContain(`true ${OLD}`);
      expect(lying).toContain('true undefined');
    });
  });
});
