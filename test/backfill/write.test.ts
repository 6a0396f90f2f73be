import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Store } from '../../src/backfill/store.ts';
import { type SeriesOptions, type Written, writeAll } from '../../src/backfill/write.ts';
import type { History } from '../../src/sources/history.ts';
import { systemClock } from '../../src/toolkit/lib/clock.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { planOf } from '../support/programs/backfill.ts';
import { noSignal } from '../support/time/timing.ts';

type Item = readonly [group: string, at: number, stream: string, value: number];

const DAY = 86_400;
const END = 3 * DAY;

/** A gauge of each record, with its group as the machine and its stream as the chain. */
function historyOf(): History {
  const history: History<Item> = {
    readPage: async () => ({ cursor: null, records: [], count: 0 }),
    estimate: async () => [],
    reachSeconds: 0,
    at: ([, at]) => at,
    group: ([group]) => group,
    stream: ([, , stream]) => stream,
    families: (records) => [
      {
        name: 'beaconchain_test',
        type: 'gauge',
        help: 'A test.',
        samples: records.map(([machine, at, chain, value]) => ({ labels: { machine, chain }, value, at })),
      },
    ],
  };
  return history as History;
}

/** A store with these records, and how to write them. */
async function stored(
  records: readonly Item[],
  { isDaily = false, ...more }: Partial<SeriesOptions> & { isDaily?: boolean } = {},
) {
  const output = join(temporaryFolder(), 'past.om');
  const store = await Store.open(`${output}.backfill`);
  const history = historyOf();
  const plan = planOf([{ start: 0, end: END }], END);
  const [slice] = plan.slices;
  if (slice) store.keep(slice, history, { next: null, left: 0, bad: 0, records });
  store.save(plan);
  const series = { labels: {}, chain: undefined, step: undefined, end: END, ...more };
  const write = (by = history): Promise<Written> => {
    const histories = new Map([['machines', by]]);
    const options = { store, output, histories, isDaily, series, clock: systemClock, signal: noSignal() };
    return writeAll(options, store.plan() ?? plan);
  };
  return { output, store, write };
}

async function written(items: readonly Item[], more?: Parameters<typeof stored>[1]) {
  const { output, store, write } = await stored(items, more);
  using _ = store;
  return { output, wrote: await write() };
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').match(/^[^#].*$/gm) ?? [];
}

it('writes each series in order of time, and only the first of duplicates', async () => {
  const { output, wrote } = await written([
    ['b', 15, 'x', 3],
    ['b', 12, 'x', 1],
    ['b', 12, 'y', 2],
    ['b', 12, 'x', 9],
    ['a', 19.5, 'x', 4],
  ]);
  expect(linesOf(output)).toEqual([
    'beaconchain_test{machine="a",chain="x"} 4 19.5',
    'beaconchain_test{machine="b",chain="x"} 1 12',
    'beaconchain_test{machine="b",chain="x"} 3 15',
    'beaconchain_test{machine="b",chain="y"} 2 12',
  ]);
  expect(readFileSync(output, 'utf8')).toMatch(/^# TYPE beaconchain_test gauge\n# HELP [\s\S]*\n# EOF\n$/);
  expect(wrote).toMatchObject({ files: [output], samples: 4, records: 4 });
});

it('writes a file for each UTC day that has records', async () => {
  const { output, wrote } = await written([
    ['a', DAY - 1, 'x', 1],
    ['a', 2 * DAY, 'x', 2],
  ]);
  expect(wrote.files).toEqual([output, `${output}.2`]);
  expect([output, `${output}.2`].map(linesOf)).toEqual([
    ['beaconchain_test{machine="a",chain="x"} 1 86399'],
    ['beaconchain_test{machine="a",chain="x"} 2 172800'],
  ]);
});

it('writes daily records into one file', async () => {
  const { wrote } = await written(
    [0, 1, 4].map((day): Item => ['mainnet', day * DAY, 'x', day]),
    { isDaily: true },
  );
  expect(wrote).toMatchObject({ files: [expect.anything()], samples: 3 });
});

it('adds labels, and leaves other chains out', async () => {
  const items: Item[] = [
    ['a', 1, 'x', 1],
    ['a', 1, 'z', 1],
  ];
  const { output } = await written(items, { labels: { job: 'j' }, chain: 'x' });
  expect(linesOf(output)).toEqual(['beaconchain_test{machine="a",chain="x",job="j"} 1 1']);
});

it('repeats a value until the next day, never beyond the end, and leaves gaps', async () => {
  const items = [0, 1, 3].map((day): Item => ['a', day * DAY, 'x', day]);
  const { output } = await written(items, { isDaily: true, step: 21_600, end: 3 * DAY + 30_000 });
  const first = [0, 1, 2, 3].map((i) => i * 21_600);
  expect(linesOf(output).map((line) => Number(line.split(' ').at(-1)))).toEqual([
    ...first,
    ...first.map((at) => at + DAY),
    3 * DAY,
    3 * DAY + 21_600,
  ]);
});

it('a resumed run reads later days with what it learned from earlier ones', async () => {
  const records: Item[] = [0, 1].map((day) => ['a', day * DAY, 'x', 1]);
  const { output, store, write } = await stored(records);
  using _ = store;
  const writeUpTo = (days: number) => {
    let seen = 0;
    const history = historyOf();
    const families: History['families'] = (group) => {
      seen += 1;
      if (seen > days) throw new Error('stopped');
      return history.families((group as Item[]).map(([machine, at, chain]) => [machine, at, chain, seen]));
    };
    return write({ ...history, families });
  };
  await expect(writeUpTo(1)).rejects.toThrow('stopped');
  await writeUpTo(2);
  expect(linesOf(`${output}.2`)).toEqual(['beaconchain_test{machine="a",chain="x"} 2 86400']);
});

it('measures the gap between records of the densest series, without missed minutes', async () => {
  const minutes = [1, 2, 3, 4, 30, 31, 32];
  const { wrote } = await written([
    ...minutes.map((minute): Item => ['a', minute * 60, 'x', 0]),
    ...minutes.map((minute): Item => ['b', minute * 600, 'x', 0]),
  ]);
  expect(wrote.gapSeconds).toBe(60);
});
