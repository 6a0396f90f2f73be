import { expect, it } from 'vitest';
import { eachPage, type ReadPage } from '../../src/api/paginate.ts';

/** Walks over these pages; the requested cursors, and how it ended. A page past the last is an error. */
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

it.each([undefined, null, ''])('ends with the cursor %j', async (cursor) => {
  expect(await walk([{ cursor, count: 10 }])).toEqual({ asked: [undefined], ending: 'end' });
  expect(await walk([numbered(1), { cursor, count: 0 }])).toEqual({ asked: [undefined, 'c1'], ending: 'end' });
});

it('stops at a cursor that cannot be read', async () => {
  const pages = [numbered(1), { cursor: false as const, count: 10 }, numbered(3)];
  expect(await walk(pages)).toEqual({ asked: [undefined, 'c1'], ending: 'unreadable_cursor' });
});

it('passes cursors back unchanged, whatever they look like', async () => {
  const cursors = [' spaced ', 'ü"\\\n', '0', 'eyJhIjoxfQ=='];
  const pages = [...cursors.map((cursor) => ({ cursor, count: 1 })), { cursor: '', count: 1 }];
  expect((await walk(pages)).asked).toEqual([undefined, ...cursors]);
});

it.each([
  ['at once', ['a', 'a'], 2],
  ['after others', ['a', 'b', 'a'], 3],
])('stops at a cursor repeated %s', async (_, cursors, pages) => {
  const { asked, ending } = await walk(cursors.map((cursor) => ({ cursor, count: 10 })));
  expect({ pages: asked.length, ending }).toEqual({ pages, ending: 'repeated_cursor' });
});

it('stops after three pages running without a record', async () => {
  const pages = [1, 0, 0, 5, 0, 0, 0, 9].map((count, n) => ({ cursor: `c${n}`, count }));
  const { asked, ending } = await walk(pages);
  expect({ pages: asked.length, ending }).toEqual({ pages: 7, ending: 'empty_pages' });
});

it('stops after 5,000 pages', async () => {
  const { asked, ending } = await walk(numbered);
  expect({ pages: asked.length, ending }).toEqual({ pages: 5_000, ending: 'too_many_pages' });
});

it('continues as long as there are cursors', async () => {
  const pages = (n: number): ReadPage => ({ cursor: n === 6_000 ? '' : `c${n}`, count: 1 });
  const { asked, ending } = await walk(pages, Number.POSITIVE_INFINITY);
  expect({ pages: asked.length, ending }).toEqual({ pages: 6_001, ending: 'end' });
  expect((await walk(numbered, 1)).ending).toBe('too_many_pages');
});
