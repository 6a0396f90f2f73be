/**
 * A deliberate fault of the program, of a kind that a tired engineer could make. The simulation must find it. It is a wrong
 * function around a right one, found by its name alone, so it survives whatever happens inside the function.
 */
export interface Breakage {
  /** What is broken, in words. */
  readonly name: string;
  /** A function of a module of src, or a method: `Class.method`. */
  readonly of: string;
  /** JavaScript that replaces the function: `(right, ...given) => result`. `right` is the original function. */
  readonly wrong: string;
}

export const BREAKAGES: readonly Breakage[] = [
  // The rate limits, the quota and the key.
  {
    name: 'wait forgotten at a restart',
    of: 'atStart',
    wrong: `(right, ledger) => {
      const buckets = Object.entries(ledger.buckets);
      const open = buckets.map(([name, bucket]) => [name, { ...bucket, wait: { ...bucket.wait, until: 0 } }]);
      return right({ ...ledger, buckets: Object.fromEntries(open) });
    }`,
  },
  {
    name: 'retry-after ignored',
    of: 'readHeaders',
    wrong: `(right, headers, now) => right({ ...headers, 'retry-after': undefined }, now)`,
  },
  {
    name: 'permit free with its answer',
    of: 'SecondWindow.countOne',
    wrong: `(right) => right(Number.NEGATIVE_INFINITY)`,
  },
  {
    name: 'no quiet second after a restart',
    of: 'RateLimiter.keepQuiet',
    wrong: `() => undefined`,
  },
  {
    name: 'permit not released without an answer',
    of: 'RateLimiter.acquire',
    wrong: `async (right, request, signal) => {
      const permit = await right(request, signal);
      return { ...permit, release: async (answer) => answer && permit.release(answer) };
    }`,
  },
  {
    name: 'ledger not persisted',
    of: 'latestWriter',
    wrong: `(right, options) => ({ ...right(options), touch: () => undefined })`,
  },
  {
    name: 'remaining ignored',
    of: 'usable',
    wrong: `(right, window, utilization) => right({ ...window, remaining: undefined }, utilization)`,
  },
  {
    name: 'filler window obeyed',
    of: 'reported',
    wrong: `(right, bucket, observation) => {
      const seen = right(bucket, observation);
      const { limits, remaining } = observation;
      const fillers = Object.keys(limits).filter((window) => limits.second && limits[window] === limits.second);
      for (const window of fillers) seen.limits[window] = limits[window];
      for (const window of fillers) seen.remaining[window] = remaining[window];
      return seen;
    }`,
  },
  {
    name: 'refused key asked at once',
    of: 'keyAt',
    wrong: `(right, ledger) => (ledger.key.standing === 'refused' ? 0 : right(ledger))`,
  },
  {
    name: 'revocation taken for a wait',
    of: 'isRevoked',
    wrong: `() => false`,
  },
  {
    name: 'revoked key asked again by itself',
    of: 'keyAt',
    wrong: `(right, ledger) => {
      const at = right(ledger);
      return at === Number.POSITIVE_INFINITY ? ledger.key.since + 600_000 : at;
    }`,
  },
  {
    name: 'revoked key asked at each restart',
    of: 'withKey',
    wrong: `(right, ...given) => {
      const ledger = right(...given);
      return { ...ledger, key: { ...ledger.key, mayProbe: ledger.key.standing === 'revoked' } };
    }`,
  },
  {
    name: 'more retries',
    of: 'retryDelay',
    wrong: `(right, reason, failures, random) => right(reason, Math.max(1, failures - 2), random)`,
  },
  // Slots and slashings.
  {
    name: 'epoch counted before it is final',
    of: 'newestToCount',
    wrong: `(right, state) => Math.max(right(state), (state.headEpoch ?? 0) - 1)`,
  },
  {
    name: 'epoch counted twice',
    of: 'withFinality',
    wrong: `(right, state, ...given) => right({ ...state, scannedEpoch: undefined }, ...given)`,
  },
  {
    name: 'scheduled slot of a finalized epoch counted at once',
    of: 'decided',
    wrong: `(right, ...given) => {
      const epoch = right(...given);
      return { ...epoch, rows: epoch.rows.map((row) => (row.status === '0' ? { ...row, status: '2' } : row)) };
    }`,
  },
  {
    name: 'orphaned row preferred',
    of: 'canonicalRows',
    wrong: `(right, rows, ...given) => {
      const orphaned = new Set(rows.filter(({ status }) => status === '3').map(({ slot }) => slot));
      return right(rows.filter(({ slot, status }) => status === '3' || !orphaned.has(slot)), ...given);
    }`,
  },
  {
    name: 'skipped epochs not counted',
    of: 'skipTo',
    wrong: `(right, state, epoch) => ({ ...right(state, epoch), totals: state.totals })`,
  },
  {
    name: 'seen slashings forgotten at a restart',
    of: 'slashingsSource',
    wrong: `(right, options) => {
      const source = right(options);
      return { ...source, state: source.state.transform((state) => ({ ...state, seen: [] })) };
    }`,
  },
  {
    name: 'slashings of an orphaned block counted',
    of: 'recordsIn',
    wrong: `(right, context, endpoint, record, block) => {
      const { api } = context;
      const records = (...given) => api.records(...given).map((one) => ({ ...one, block_root: block.blockroot }));
      return right({ ...context, api: { ...api, records } }, endpoint, record, block);
    }`,
  },
  {
    name: 'incomplete slashings taken for all',
    of: 'noteTry',
    wrong: `(right, state, row) => right(state, row, true)`,
  },
  // The other sources.
  {
    name: 'page that is not full taken for the last',
    of: 'readPages',
    wrong: `(right, context, query, found) => right(context, query, found, (page) => page.count < 10)`,
  },
  {
    name: 'failed sweep publishes nothing',
    of: 'sweep',
    wrong: `async (right, ...given) => {
      const swept = await right(...given);
      if (swept.failure) throw swept.failure;
      return swept;
    }`,
  },
  {
    name: 'older record replaces a newer one',
    of: 'withNewer',
    wrong: `(right, machine, now, records = []) => afterRecords(machine, records, now)`,
  },
  {
    name: 'stale values not withdrawn',
    of: 'staleAfter',
    wrong: `() => Number.POSITIVE_INFINITY`,
  },
  {
    name: 'stale values withdrawn only by a poll',
    of: 'nextChange',
    wrong: `() => Number.POSITIVE_INFINITY`,
  },
  {
    name: 'values withdrawn too early',
    of: 'staleAfter',
    wrong: `(right, ...given) => right(...given) / 4`,
  },
  {
    name: 'smaller day replaces a larger one',
    of: 'daysRead',
    wrong: `(right, ...given) => {
      const read = right(...given);
      return { ...read, run: (context) => read.run(context, {}) };
    }`,
  },
  {
    name: 'next sync committee never asked for',
    of: 'periodRead',
    wrong: `(right, ...given) => {
      const { period, ...read } = right(...given);
      return { ...read, due: ({ period }) => (period ? Number.POSITIVE_INFINITY : 0) };
    }`,
  },
  // The scheduler, a start, a reload, and /metrics.
  {
    name: 'a timer left by each request',
    of: 'createApi',
    wrong: `(right, currentOptions, dependencies) => {
      const api = right(currentOptions, dependencies);
      return {
        ...api,
        request(...given) {
          dependencies.clock.sleep(86_400_000).catch(() => undefined);
          return api.request(...given);
        },
      };
    }`,
  },
  {
    name: 'revocation logged without a cause',
    of: 'EventLog.begin',
    wrong: `(right, key) => {
      right(key);
      this.keyRefused({ ...key, standing: 'revoked' });
    }`,
  },
  {
    name: 'value shown before it is written',
    of: 'Scheduler.#persist',
    wrong: `(right, task, signal) => {
      task.saved = task.current;
      this.#deps.onChange(task.source);
      return right(task, signal);
    }`,
  },
  {
    name: 'failed write taken for success',
    of: 'Scheduler.#persist',
    wrong: `async (right, task, signal) => {
      await right(task, signal);
      task.saved = task.current;
      this.#deps.onChange(task.source);
    }`,
  },
  {
    name: 'polls of one source overlap',
    of: 'Scheduler.#startDue',
    wrong: `(right, signal) => {
      for (const task of this.#tasks) task.work = undefined;
      return right(signal);
    }`,
  },
  {
    name: 'late read never taken back',
    of: 'stretched',
    wrong: `(right, reads, ...given) => right(reads.filter(({ wasLeftOut }) => !wasLeftOut), ...given)`,
  },
  {
    name: 'reload restarts the polls',
    of: 'Scheduler.interrupt',
    wrong: `(right) => right(() => true)`,
  },
  {
    name: 'reload makes every source new',
    of: 'Scheduler.adopt',
    wrong: `(right, sources, entries) => {
      const known = new Set(this.#tasks.map(({ source }) => sourceId(source)));
      this.#tasks = [];
      right(sources, new Map([...entries].filter(([id]) => !known.has(id))));
    }`,
  },
  {
    name: 'quotes of a label not escaped',
    of: 'escapeQuoted',
    wrong: `(right, text) => right(text).replaceAll('\\\\"', '"')`,
  },
  {
    name: 'families of two chains not merged',
    of: 'mergeFamilies',
    wrong: `(right, families) => families`,
  },
];
