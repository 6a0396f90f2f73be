/** How reading the pages ended. Any value other than `end` is logged as a warning, because data may be missing. */
export type Ending = 'end' | 'repeated_cursor' | 'empty_pages' | 'too_many_pages' | 'unreadable_cursor';

export interface ReadPage {
  /** False if unreadable. */
  readonly cursor: string | false | null | undefined;
  /** Records on the page, valid or not. */
  readonly count: number;
  /** Records that are wholly unreadable. Default: 0. */
  readonly unreadable?: number;
}

const MAX_EMPTY_PAGES = 3;
const MAX_PAGES = 5_000;

/**
 * Reads page after page until the service sends no cursor. `read` gets each cursor unchanged, undefined for the first
 * page. A repeated cursor, several empty pages in a row, or the limit `maxPages` also end the loop.
 */
export async function eachPage(
  read: (cursor: string | undefined) => Promise<ReadPage>,
  maxPages = MAX_PAGES,
): Promise<Ending> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  let empty = 0;
  for (let pages = 1; ; pages += 1) {
    const page = await read(cursor);
    if (page.cursor === false) return 'unreadable_cursor';
    if (!page.cursor) return 'end';
    if (seen.has(page.cursor)) return 'repeated_cursor';
    empty = page.count === 0 ? empty + 1 : 0;
    if (empty >= MAX_EMPTY_PAGES) return 'empty_pages';
    if (pages >= maxPages) return 'too_many_pages';
    seen.add(page.cursor);
    cursor = page.cursor;
  }
}
