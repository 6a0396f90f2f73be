import type { UnixMs } from '../lib/time.ts';
import { VERSION } from '../lib/version.ts';
import { Exposition } from '../metrics/exposition.ts';
import type { Family } from '../metrics/family.ts';
import type { SourceView } from '../scheduler/views.ts';
import { pagePieces } from '../web/page.ts';
import { RenderedPage } from '../web/rendered-page.ts';
import { statusOf } from '../web/status.ts';
import type { StatusInput } from '../web/status-input.ts';
import { jsonPieces } from '../web/status-json.ts';
import { modelOf } from '../web/status-model.ts';
import { OUTSIDE } from './outside.ts';
import { ownFamilies } from './own-families.ts';
import { expositionParts } from './parts.ts';
import { viewsOf } from './picture.ts';
import type { EngineOptions, Role } from './role.ts';

/** /metrics. */
export function expositionOf(options: EngineOptions, role: Role): Exposition {
  const { clock, log, processMetrics, lastReload, replica, outside = OUTSIDE } = options;
  const { exposition } = outside;
  const views = oncePerMoment(() => viewsOf(role.state(), role.viewOptions, clock.now()));

  async function own(): Promise<Family[]> {
    // Read before the first await, so that all figures belong to one moment.
    const figures = { now: clock.now(), lastReload: lastReload(), isLeader: role.isLeader };
    const [{ ledger }, { budgetOptions }, seen] = [role.state(), role.viewOptions, views()];
    const { totals, stateWriteFailures, drift } = await role.counted();
    const isShared = replica !== undefined;
    const shown = { ...figures, budgetOptions, stateWriteFailures, drift, isShared };
    const families = ownFamilies({ ledger, totals }, seen, shown);
    return [...families, ...(await processMetrics.families())];
  }

  const onError = (error: unknown): void => log.error({ err: String(error) }, 'metrics not rendered');
  return new Exposition(expositionParts(views, own, clock, exposition.maxNapMs), clock, onError, exposition);
}

/** The parts of /metrics are read at one moment, and see the same. Nothing else runs before the next microtask. */
function oncePerMoment(read: () => SourceView[]): () => SourceView[] {
  let seen: SourceView[] | undefined;
  return () => {
    if (seen) return seen;
    queueMicrotask(() => {
      seen = undefined;
    });
    seen = read();
    return seen;
  };
}

/** The status, as a page and as JSON. */
export function pageOf(
  { clock, config, startedAt, lastReload, isSimulated }: EngineOptions,
  role: Role,
  unwrittenAt: () => UnixMs | undefined,
): RenderedPage {
  return new RenderedPage((form) => {
    const now = clock.now();
    const state = role.state();
    const known: StatusInput = {
      views: viewsOf(state, role.viewOptions, now),
      ledger: state.ledger,
      budgetOptions: role.viewOptions.budgetOptions,
      version: VERSION,
      startedAt,
      isConfigRead: lastReload().isSuccessful,
      unwrittenAt: unwrittenAt(),
      isLeader: role.isLeader,
      drift: role.drift(),
      isSimulated,
      telemetryPath: config.web.telemetryPath,
    };
    if (form === 'json') return jsonPieces(modelOf(known, now));
    return pagePieces(statusOf(known, now, form === 'refreshing'));
  }, clock);
}
