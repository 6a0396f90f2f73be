import { expect, it } from 'vitest';
import { eachPage, type ReadPage } from '../../src/api/paginate.ts';

/** Reads these pages. Returns the requested cursors and the reason for the end. @throws at a request past the last page */
async function walk(pages: readonly ReadPage[] | ((n: number) => ReadPage), mostPages?: number) {
  const asked: (string | undefined)[] = [];
  const read = async (cursor: string | undefined): Promise<ReadPage> => {
    const page = typeof pages === 'function' ? pages(asked.length) : pages[asked.length];
    if (!page) throw new Error('asked for a page past the last');
    asked.push(cursor);
    return page;
  };
  const ending = await (mostPages === undefined ? eachPage(read) : eachPage(read, mostPages));
  return { asked, ending };
}

const numbered = (n: number): ReadPage => ({ cursor: `c${n}`, count: 10 });
const counts = (...all: number[]): ReadPage[] => all.map((count, n) => ({ cursor: `c${n}`, count }));

it.each([undefined, null, ''])('ends with the cursor %j', async (cursor) => {
  expect(await walk([{ cursor, count: 10 }])).toEqual({ asked: [undefined], ending: 'end' });
  expect(await walk([numbered(1), { cursor, count: 0 }])).toEqual({ asked: [undefined, 'c1'], ending: 'end' });
});

it.each<[string, readonly ReadPage[] | typeof numbered, number, string]>([
  ['a cursor that cannot be read', [numbered(1), { cursor: false, count: 10 }, numbered(3)], 2, 'unreadable_cursor'],
  ['a cursor repeated at once', [1, 1].map(numbered), 2, 'repeated_cursor'],
  ['a cursor repeated after others', [1, 2, 1].map(numbered), 3, 'repeated_cursor'],
  ['the third page in a row without a record', counts(1, 0, 0, 5, 0, 0, 0, 9), 7, 'empty_pages'],
  ['5,000 pages', numbered, 5_000, 'too_many_pages'],
])('stops after %s', async (_, pages, count, ending) => {
  const walked = await walk(pages);
  expect([walked.asked.length, walked.ending]).toEqual([count, ending]);
});

it('passes every cursor back unchanged', async () => {
  const cursors = [' spaced ', 'ü"\\\n', '0', 'eyJhIjoxfQ=='];
  const pages = [...cursors.map((cursor) => ({ cursor, count: 1 })), { cursor: '', count: 1 }];
  expect((await walk(pages)).asked).toEqual([undefined, ...cursors]);
});

it('reads on until there is no cursor, up to the limit of its caller', async () => {
  const pages = (n: number): ReadPage => ({ cursor: n === 6_000 ? '' : `c${n}`, count: 1 });
  const { asked, ending } = await walk(pages, Number.POSITIVE_INFINITY);
  expect({ pages: asked.length, ending }).toEqual({ pages: 6_001, ending: 'end' });
  expect((await walk(numbered, 1)).ending).toBe('too_many_pages');
});
