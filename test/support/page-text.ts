import { type Page, pagePieces } from '../../src/web/page.ts';

/** The whole page. */
export function pageText(page: Page): string {
  return [...pagePieces(page)].join('');
}
