import type { Ledger } from '../budget/ledger.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { VERSION } from '../lib/version.ts';
import type { SourceView } from '../scheduler/views.ts';
import type { Source } from '../sources/source.ts';
import { RenderedPage } from '../web/rendered-page.ts';
import { statusOf } from '../web/status.ts';
import type { LastReload } from './own-families.ts';
import { termsOf } from './terms.ts';

export interface StatusPageOptions {
  readonly config: () => Config;
  readonly views: () => SourceView[];
  readonly ledger: () => Ledger;
  /** The limits that the source's requests count in. */
  readonly bucketOf: (source: Source) => string;
  readonly clock: Clock;
  /** Unix ms. */
  readonly startedAt: number;
  readonly lastReload: () => LastReload;
}

/** The status page of a running daemon. */
export function statusPageOf(options: StatusPageOptions): RenderedPage {
  const { views, ledger, bucketOf, clock, startedAt, lastReload } = options;
  return new RenderedPage((isRefreshing) => {
    const config = options.config();
    const known = {
      views: views(),
      ledger: ledger(),
      terms: termsOf(config),
      bucketOf,
      version: VERSION,
      startedAt,
      isConfigRead: lastReload().isSuccessful,
      telemetryPath: config.web.telemetryPath,
    };
    return statusOf(known, clock.now(), isRefreshing);
  }, clock);
}
