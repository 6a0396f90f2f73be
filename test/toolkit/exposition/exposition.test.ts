import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { Exposition, type Section } from '../../../src/toolkit/exposition/exposition.ts';
import { type Family, lazyFamily } from '../../../src/toolkit/exposition/family.ts';
import { DAY, HOUR, NOW, SECOND } from '../../support/time/timing.ts';
import { VirtualClock } from '../../support/time/virtual-clock.ts';

function gauge(name: string, value: number, until = Number.POSITIVE_INFINITY): Family {
  return { name, type: 'gauge', help: `${name}.`, samples: [{ labels: {}, value, until }] };
}

function text(...gauges: readonly [name: string, value: number][]): string {
  return gauges.map(([name, value]) => `# HELP ${name} ${name}.\n# TYPE ${name} gauge\n${name} ${value}\n`).join('');
}

/** The snapshot from which sections are read. */
interface Moment {
  readonly now: number;
  readonly monotonic: number;
}

/** A section with one gauge whose value can be set, and the times at which it was read. */
class FakeSection implements Section<Moment> {
  readonly name: string;
  readonly reads: number[] = [];
  value = 0;
  everyMs = Number.POSITIVE_INFINITY;
  answer: () => Family[] | Promise<Family[]> = () => [gauge(this.name, this.value)];

  constructor(name: string) {
    this.name = name;
  }

  families({ monotonic }: Moment): Family[] | Promise<Family[]> {
    this.reads.push(monotonic);
    return this.answer();
  }
}

function setUp() {
  const clock = new VirtualClock(NOW);
  const [a, b] = [new FakeSection('a'), new FakeSection('b')];
  const errors: unknown[] = [];
  const takeSnapshot = vi.fn((): Moment => ({ now: clock.now(), monotonic: clock.monotonic() }));
  const exposition = new Exposition([a, b], { takeSnapshot, clock, onError: (error) => errors.push(error) });
  const abort = new AbortController();
  const shown = (): string => Buffer.concat(exposition.chunks('text', false)).toString();
  return { clock, a, b, errors, takeSnapshot, exposition, abort, shown };
}

/** Starts the loop. Without samples nothing is compressed, so everything happens on the virtual clock. */
async function running(prepare: (all: ReturnType<typeof setUp>) => void = () => undefined) {
  const all = setUp();
  for (const section of [all.a, all.b]) section.answer = () => [];
  prepare(all);
  await all.exposition.refresh();
  const stopped = all.exposition.run(all.abort.signal);
  return { ...all, stopped };
}

describe('metrics/exposition', () => {
  describe('the body', () => {
    it('is the sections in their order, in OpenMetrics with an end mark', async () => {
      const { a, b, exposition, shown } = setUp();
      a.value = 1;
      b.value = 2;
      await exposition.refresh();
      expect(shown()).toBe(text(['a', 1], ['b', 2]));
      expect(Buffer.concat(exposition.chunks('openmetrics', false)).toString()).toBe(
        '# TYPE a gauge\n# HELP a a.\na 1\n# TYPE b gauge\n# HELP b b.\nb 2\n# EOF\n',
      );
    });

    it.each(['text', 'openmetrics'] as const)(
      'in %s is the same compressed, although each section is compressed apart',
      async (format) => {
        const { a, exposition } = setUp();
        a.answer = () => Array.from({ length: 500 }, (_, i) => gauge(`a_${i}`, i / 3));
        await exposition.refresh();
        const plain = Buffer.concat(exposition.chunks(format, false));
        const gzipped = Buffer.concat(exposition.chunks(format, true));
        expect(gunzipSync(gzipped).equals(plain)).toBe(true);
        expect(gzipped.length).toBeLessThan(plain.length / 3);
      },
    );

    it('without any sample is empty, and still ends in OpenMetrics', async () => {
      const { a, b, exposition } = setUp();
      for (const section of [a, b]) section.answer = () => [{ ...gauge('none', 0), samples: [] }];
      await exposition.refresh();
      expect(Buffer.concat(exposition.chunks('text', false)).toString()).toBe('');
      expect(Buffer.concat(exposition.chunks('text', true))).toHaveLength(0);
      expect(gunzipSync(Buffer.concat(exposition.chunks('openmetrics', true))).toString()).toBe('# EOF\n');
    });
  });

  describe('a refresh', () => {
    it('reads only sections that were touched', async () => {
      const { a, b, exposition, shown } = setUp();
      await exposition.refresh();
      a.value = 1;
      b.value = 2;
      exposition.touch('b', 'nobody');
      await exposition.refresh();
      expect(shown()).toBe(text(['a', 0], ['b', 2]));
      await exposition.refresh();
      expect([a.reads.length, b.reads.length]).toEqual([1, 2]);
    });

    it('shows all touched sections at once and from one snapshot, however long one takes', async () => {
      const { a, b, exposition, takeSnapshot, shown } = setUp();
      await exposition.refresh();
      const slow = Promise.withResolvers<Family[]>();
      a.value = 1;
      b.answer = () => slow.promise;
      exposition.touch('a', 'b');
      const refreshed = exposition.refresh();
      for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(shown()).toBe(text(['a', 0], ['b', 0]));
      slow.resolve([gauge('b', 1)]);
      await refreshed;
      expect(shown()).toBe(text(['a', 1], ['b', 1]));
      expect(takeSnapshot).toHaveBeenCalledTimes(2);
    });

    it('lets due timers run between long steps', async () => {
      let ms = 0;
      const clock = { now: () => NOW, monotonic: () => (ms += 10), sleep: () => Promise.resolve() };
      const order: string[] = [];
      const step = <T>(name: string, result: T): T => {
        order.push(name);
        setTimeout(() => order.push('timer'), 0);
        for (const end = performance.now() + 2; performance.now() < end; );
        return result;
      };
      const section: Section<undefined> = {
        name: 'a',
        families: () => step('families', [lazyFamily(gauge('a', 1), () => step('samples', []))]),
      };
      const onError = (): void => undefined;
      await readFile(import.meta.filename);
      await new Exposition([section], { takeSnapshot: () => undefined, clock, onError }).refresh();
      expect(order.slice(0, 3)).toEqual(['families', 'timer', 'samples']);
    });

    it('loses no section that is touched meanwhile', async () => {
      const { a, exposition, shown } = setUp();
      a.answer = () => {
        a.answer = () => [gauge('a', 2)];
        exposition.touch('a');
        return [gauge('a', 1)];
      };
      await exposition.refresh();
      expect(shown()).toBe(text(['a', 1], ['b', 0]));
      await exposition.refresh();
      expect(shown()).toBe(text(['a', 2], ['b', 0]));
    });
  });

  it('a section that fails keeps its old bytes, is reported, and does not affect the other sections', async () => {
    for (const broken of ['a', 'b'] as const) {
      const { clock, exposition, shown, errors, ...sections } = setUp();
      await exposition.refresh();
      const whole = broken === 'a' ? 'b' : 'a';
      sections[broken].answer = () => Promise.reject(new Error('broken'));
      sections[whole].value = 5;
      exposition.touch('a', 'b');
      await exposition.refresh();
      expect(shown()).toBe(text(['a', whole === 'a' ? 5 : 0], ['b', whole === 'b' ? 5 : 0]));
      expect(errors.map(String)).toEqual(['Error: broken']);
      sections[broken].answer = () => [gauge(broken, 7)];
      await clock.advance(SECOND);
      await exposition.refresh();
      expect(shown(), 'tried again within a second').toContain(`\n${broken} 7\n`);
    }
  });

  describe('the loop', () => {
    it('a refresh beside the loop waits for its rendering, and still works when the loop has ended', async () => {
      const { clock, exposition, a, shown, abort, stopped } = await running();
      const slow = Promise.withResolvers<Family[]>();
      a.answer = () => slow.promise;
      exposition.touch('a');
      await clock.advance(0);
      setImmediate(() => slow.resolve([gauge('a', 7)]));
      await exposition.refresh();
      expect(shown()).toBe(text(['a', 7]));
      abort.abort();
      await stopped;
      await exposition.refresh();
    });

    it('renders a section exactly when its first sample expires', async () => {
      const { clock, a, b, shown } = await running(({ a }) => {
        const shown = [gauge('a1', 1, NOW + HOUR), gauge('a2', 2, NOW + 90_250), gauge('a3', 3)];
        a.answer = () => (a.reads.length === 1 ? shown : []);
      });
      await clock.advance(90_249);
      expect([a.reads, shown()]).toEqual([[0], text(['a1', 1], ['a2', 2], ['a3', 3])]);
      await clock.advance(1);
      expect([a.reads, shown()]).toEqual([[0, 90_250], '']);
      await clock.advance(2 * HOUR);
      expect([a.reads, b.reads]).toEqual([[0, 90_250], [0]]);
    });

    it('renders a section that always changes once a second, however often others change', async () => {
      const { clock, a, b, exposition } = await running((all) => {
        all.b.everyMs = SECOND;
      });
      for (let i = 0; i < 100; i += 1) {
        await clock.advance(100);
        exposition.touch('a');
      }
      await clock.advance(0);
      expect(b.reads).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((second) => second * SECOND));
      expect(a.reads).toHaveLength(101);
    });

    it('renders everything within ten seconds after the clock was set back', async () => {
      const { clock, a, b } = await running((all) => {
        all.a.everyMs = 10 * SECOND;
      });
      await clock.advance(5 * SECOND);
      clock.step(-DAY);
      await clock.advance(10 * SECOND);
      expect(a.reads.length + b.reads.length).toBe(4);
      const [, restart = 0] = a.reads;
      await clock.advance(20 * SECOND);
      expect(a.reads).toEqual([0, restart, restart + 10 * SECOND, restart + 20 * SECOND]);
    });
  });
});
