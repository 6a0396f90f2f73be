import { emptyLedger, Ledger } from '../budget/ledger.ts';
import type { Sample } from '../metrics/family.ts';
import type { Replica } from '../replica/replica.ts';
import type { Source } from '../sources/source.ts';
import { entrySchema, sourceId } from '../state/entry.ts';
import { parseValue } from '../state/envelope.ts';
import { endpointsOf, newRequestCounts, sumsOf } from './counters.ts';
import { SchemaDrift } from './drift.ts';
import { problemOf } from './health.ts';
import { BUDGET_WAIT } from './own-families.ts';
import { ALL_PARTS } from './parts.ts';
import type { EngineOptions, Role, RoleLinks } from './role.ts';
import { viewOptionsOf } from './sources.ts';
import { LEDGER, SavedTotals, type State, TOTALS, unreadable } from './state.ts';

const NOTHING_KNOWN: State = { ledger: emptyLedger(), entries: new Map(), totals: [] };

/** Serves what the polling replica wrote, and sends no requests to the API. */
export function openFollower(options: EngineOptions, replica: Replica, { touch }: RoleLinks): Role {
  const { config, clock, log, before } = options;
  const viewOptions = viewOptionsOf(config, log, clock.now());
  const wanted = [LEDGER, TOTALS, ...viewOptions.sources.map(sourceId)];
  const noRequests = newRequestCounts(config);
  const noAnswers = new SchemaDrift(clock, log);
  const nothing = (): void => undefined;
  /** The part of the state that this process has read. */
  let state = before ?? NOTHING_KNOWN;
  let leave = nothing;

  function apply(values: ReadonlyMap<string, unknown>): void {
    for (const [document, value] of values) {
      const next = withDocument(state, viewOptions.sources, document, value);
      if (!next) log.warn({ document }, 'state not readable, still serving the previous state');
      state = next ?? state;
    }
    touch(...ALL_PARTS);
  }

  const drift = (): readonly Sample[] => noAnswers.samples(endpointsOf(config));
  return {
    isLeader: false,
    viewOptions,
    state: () => state,
    counted: async () => ({
      totals: await sumsOf(noRequests, { [BUDGET_WAIT]: 0 }, state.totals),
      stateWriteFailures: replica.writeFailures,
      drift: drift(),
    }),
    drift,
    // Overdue polls are those of the other replica: a restart of this one would not help.
    unhealthy: () => problemOf(clock.monotonic() - replica.heartbeatAt, undefined),
    begin: async () => {
      const read = before ? [LEDGER, TOTALS, ...before.entries.keys()] : [];
      const missing = wanted.filter((name) => !read.includes(name));
      leave = replica.subscribe({ wanted, apply, rewrite: nothing, onLapse: nothing }, missing);
      await replica.refresh().catch((error: unknown) => {
        // Without Redis, known values can still be shown. Without known values, zeros would be shown.
        if (!before) throw unreadable(error);
      });
    },
    close: async () => {
      leave();
      return state;
    },
  };
}

/** Pure. The state with a new version of a document; undefined if that cannot be read. */
function withDocument(state: State, sources: readonly Source[], name: string, value: unknown): State | undefined {
  if (name === LEDGER) {
    const ledger = parseValue(value, Ledger);
    return ledger.success ? { ...state, ledger: ledger.data } : undefined;
  }
  if (name === TOTALS) {
    const totals = parseValue(value, SavedTotals);
    return totals.success ? { ...state, totals: totals.data } : undefined;
  }
  const source = sources.find((one) => sourceId(one) === name);
  const entry = source && parseValue(value, entrySchema(source));
  return entry?.success ? { ...state, entries: new Map([...state.entries, [name, entry.data]]) } : undefined;
}
