import { type ApiOptions, laneOf } from './api/client.ts';
import type { Pacer } from './budget/pacer.ts';
import type { Config } from './config/config.ts';
import { RenderedPage } from './http/rendered-page.ts';
import type { Clock } from './lib/clock.ts';
import type { LastReload } from './own-families.ts';
import type { Scheduler } from './scheduler/scheduler.ts';
import { statusOf } from './status/status.ts';
import { termsOf } from './terms.ts';
import { VERSION } from './version.ts';

export interface StatusPageOptions {
  readonly config: Config;
  readonly apiOptions: ApiOptions;
  readonly scheduler: Scheduler;
  readonly pacer: Pacer;
  readonly clock: Clock;
  /** Unix ms. */
  readonly startedAt: number;
  readonly lastReload: () => LastReload;
}

/** The status page of a running daemon. */
export function statusPageOf(options: StatusPageOptions): RenderedPage {
  const { config, apiOptions, scheduler, pacer, clock, startedAt, lastReload } = options;
  return new RenderedPage((isRefreshing) => {
    const known = {
      views: scheduler.views(),
      ledger: pacer.ledger,
      terms: termsOf(config),
      bucketOf: (source: Parameters<typeof laneOf>[1]) => pacer.bucketOf(laneOf(apiOptions, source)),
      version: VERSION,
      startedAt,
      isConfigRead: lastReload().isSuccessful,
      telemetryPath: config.web.telemetryPath,
    };
    return statusOf(known, clock.now(), isRefreshing);
  }, clock);
}
