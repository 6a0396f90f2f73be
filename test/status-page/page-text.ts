import { notice } from '../../src/sources/content.ts';
import { pagePieces, type StatusPage } from '../../src/status-page/page.ts';
import { NOW } from '../support/time/timing.ts';

/** The text of the whole page. */
export function pageText(page: StatusPage): string {
  return [...pagePieces(page)].join('');
}

/** What a reader sees of it. */
export function withoutMarkup(text: string): string {
  return text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
}

/** A page with nothing on it but this. */
export function pageWith(parts: Partial<StatusPage>): StatusPage {
  return {
    now: NOW,
    about: '',
    telemetryPath: '/metrics',
    verdict: notice('good', 'Working'),
    counts: '',
    notices: [],
    tables: [],
    ...parts,
  };
}
