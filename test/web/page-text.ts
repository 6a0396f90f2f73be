import { pagePieces, type StatusPage } from '../../src/web/page.ts';

/** The whole page. */
export function pageText(page: StatusPage): string {
  return [...pagePieces(page)].join('');
}
