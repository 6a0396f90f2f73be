/** How a walk over the pages ended. Everything but `end` deserves a warning: data may be missing. */
export type Ending = 'end' | 'repeated_cursor' | 'empty_pages' | 'too_many_pages';

export interface ReadPage {
  readonly cursor: string | null | undefined;
  /** Records on the page, readable or not. */
  readonly records: number;
}

const MAX_EMPTY_PAGES = 3;
const MAX_PAGES = 5_000;

/**
 * Follows cursors until they end: `read` is given each cursor unchanged (undefined for the first page). A service that
 * repeats a cursor or sends page after page without a record would be followed for ever; `mostPages` bounds the rest.
 */
export async function eachPage(
  read: (cursor: string | undefined) => Promise<ReadPage>,
  mostPages = MAX_PAGES,
): Promise<Ending> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  let empty = 0;
  for (let pages = 1; ; pages += 1) {
    const page = await read(cursor);
    if (!page.cursor) return 'end';
    if (seen.has(page.cursor)) return 'repeated_cursor';
    empty = page.records === 0 ? empty + 1 : 0;
    if (empty >= MAX_EMPTY_PAGES) return 'empty_pages';
    if (pages >= mostPages) return 'too_many_pages';
    seen.add(page.cursor);
    cursor = page.cursor;
  }
}
