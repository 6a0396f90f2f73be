/** A deliberate fault of the program, of a kind that a tired engineer could make. The simulation must find it. */
export interface Breakage {
  readonly name: string;
  /** Occurs exactly once in src. */
  readonly find: string;
  readonly replace: string;
}

export const BREAKAGES: readonly Breakage[] = [
  // The rate limits, the quota and the key.
  {
    name: 'wait forgotten at a restart',
    find: '  until: unixMs,',
    replace: '  until: unixMs.transform(() => 0),',
  },
  {
    name: 'retry-after ignored',
    find: "['ratelimit-reset', 'retry-after']",
    replace: "['ratelimit-reset']",
  },
  {
    name: 'permit free with its answer',
    find: '    this.#cooling.push(now + COUNTED_FOR_MS);',
    replace: '    this.#cooling.push(now);',
  },
  {
    name: 'no quiet second after a restart',
    find: '  limiter.keepQuiet();',
    replace: '',
  },
  {
    name: 'permit not released without an answer',
    find: '      await release(await exchanged.catch(() => undefined));',
    replace: '      await release(await exchanged);',
  },
  {
    name: 'ledger not persisted',
    find: '    onChange: () => writer.touch(),',
    replace: '    onChange: () => undefined,',
  },
  {
    name: 'remaining ignored',
    find: '  return Math.max(0, Math.min(share, window.remaining ?? Number.POSITIVE_INFINITY));',
    replace: '  return Math.max(0, share);',
  },
  {
    name: 'filler window obeyed',
    find: '      if (isFiller) delete seen[field][window];\n      else if',
    replace: '      if',
  },
  {
    name: 'refused key asked at once',
    find: '      return key.since + (key.mayProbe ? FIRST_REFUSED_KEY_WAIT_MS : REFUSED_KEY_WAIT_MS);',
    replace: '      return 0;',
  },
  {
    name: 'revocation taken for a wait',
    find: '  return present.length > 0 && present.every((limit) => limit === 0);',
    replace: '  return false;',
  },
  {
    name: 'revoked key asked again by itself',
    find: '      return key.mayProbe ? 0 : Number.POSITIVE_INFINITY;',
    replace: '      return key.mayProbe ? 0 : key.since + ASK_AGAIN_AFTER_MS;',
  },
  {
    name: 'revoked key asked at each restart',
    find: '  if (now - key.since < ASK_AGAIN_AFTER_MS) return ledger;\n',
    replace: '',
  },
  {
    name: 'more retries',
    find: 'const MAX_RETRIES = 2;',
    replace: 'const MAX_RETRIES = 4;',
  },
  // Slots and slashings.
  {
    name: 'epoch counted before it is final',
    find: '  const newest = newestToCount(state);',
    replace: '  const newest = Math.max(newestToCount(state), (state.headEpoch ?? 0) - 1);',
  },
  {
    name: 'epoch counted twice',
    find: '  const { scannedEpoch = epoch - 1 } = state;',
    replace: '  const scannedEpoch = epoch - 1;',
  },
  {
    name: 'scheduled slot of a finalized epoch counted at once',
    find: "unread !== undefined || own.rows.some(({ status }) => status === '0');",
    replace: 'unread !== undefined;',
  },
  {
    name: 'orphaned row preferred',
    find: "['1', '3', '2', '0']",
    replace: "['3', '1', '2', '0']",
  },
  {
    name: 'skipped epochs not counted',
    find: '  const totals = { ...state.totals, skippedEpochs: state.totals.skippedEpochs + skipped };',
    replace: '  const { totals } = state;',
  },
  {
    name: 'seen slashings forgotten at a restart',
    find: '  seen: z.array(z.tuple([z.string(), Index])),',
    replace: '  seen: z.array(z.tuple([z.string(), Index])).transform((seen) => seen.slice(0, 0)),',
  },
  {
    name: 'slashings of an orphaned block counted',
    find: 'data).filter(({ block_root }) => block_root === blockroot);',
    replace: 'data);',
  },
  {
    name: 'incomplete slashings taken for all',
    find: 'byIdentity.size >= block.attesterslashingscount;',
    replace: 'true;',
  },
  // The other sources.
  {
    name: 'page that is not full taken for the last',
    find: 'isLast(page) ? {',
    replace: 'page.count < 10 ? {',
  },
  {
    name: 'failed sweep publishes nothing',
    find: '  if (failure) return { value, failure };',
    replace: '  if (failure) throw failure;',
  },
  {
    name: 'older record replaces a newer one',
    find: 'records.filter(([process, { timestamp }]) => timestamp > (machine[process]?.timestamp ?? 0));',
    replace: 'records;',
  },
  {
    name: 'stale values not withdrawn',
    find: '  const freshMs = Math.min(staleAfter(options, timing), forgetAfterMs);',
    replace: '  const freshMs = forgetAfterMs;',
  },
  {
    name: 'stale values withdrawn only by a poll',
    find: 'until: nextChange(machine, [freshMs, forgetAfterMs], now),',
    replace: 'until: Number.POSITIVE_INFINITY,',
  },
  {
    name: 'values withdrawn too early',
    find: '  const freshMs = Math.min(staleAfter(options, timing), forgetAfterMs);',
    replace: '  const freshMs = Math.min(staleAfter(options, timing), forgetAfterMs) / 4;',
  },
  {
    name: 'smaller day replaces a larger one',
    find: 'days.reduce((best, day) => (best && best.day > day.day ? best : day), known);',
    replace: 'days.at(-1) ?? known;',
  },
  {
    name: 'next sync committee never asked for',
    find: `    period: {
      ms: MS_PER_PERIOD,
      from: ({ period }) => period && period.timestamp.end * 1000 + AFTER_PERIOD_END_MS,
    },
    async run(`,
    replace: `    due: ({ period }) => (period ? Number.POSITIVE_INFINITY : 0),
    async run(`,
  },
  // The scheduler, a start, a reload, and /metrics.
  {
    name: 'a timer left by each request',
    find: '        return await run();',
    replace: `        void clock.sleep(86_400_000).catch(() => undefined);
        return await run();`,
  },
  {
    name: 'revocation logged without a cause',
    find: '    else this.keyRefused(key);',
    replace: `    else this.keyRefused(key);
    this.#log.error({}, KEY_REFUSED.revoked[0]);`,
  },
  {
    name: 'value shown before it is written',
    find: '    const { rounds } = task;\n',
    replace: `    const { rounds } = task;
    task.saved = task.current;
    onChange(task.source);
`,
  },
  {
    name: 'failed write taken for success',
    find: `      return;
    }
    // Not the entry that was saved`,
    replace: `    }
    // Not the entry that was saved`,
  },
  {
    name: 'polls of one source overlap',
    find: '      if (task.running || task.stop.signal.aborted) continue;',
    replace: '      if (task.stop.signal.aborted) continue;',
  },
  {
    name: 'late read never taken back',
    find: '? RESUME_FACTOR : 1;',
    replace: '? Number.POSITIVE_INFINITY : 1;',
  },
  {
    name: 'reload restarts the polls',
    find: '(source) => !ids.has(sourceId(source)) || isOtherService(this.#settings, next, source.chain),',
    replace: '() => true,',
  },
  {
    name: 'reload makes every source new',
    find: 'const task = known && !known.stop.signal.aborted ? known : newTask(source, entries.get(id));',
    replace: 'const task = known ? newTask(source) : newTask(source, entries.get(id));',
  },
  {
    name: 'quotes of a label not escaped',
    find: `  return escapeHelp(readableText(text)).replace(/"/g, '\\\\"');`,
    replace: '  return escapeHelp(readableText(text));',
  },
  {
    name: 'families of two chains not merged',
    find: 'others.length === 0 ? first : mergeFamilies([first, ...others].flat());',
    replace: 'others.length === 0 ? first : [first, ...others].flat();',
  },
];
