import { pagePieces, type StatusPage } from '../../src/web/page.ts';

/** The text of the whole page. */
export function pageText(page: StatusPage): string {
  return [...pagePieces(page)].join('');
}
