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
    find: "rows.some((row) => row.status === '0') || unreadBlocks",
    replace: 'unreadBlocks',
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
    find: 'records.filter((record) => record.block_root === row.blockroot);',
    replace: 'records;',
  },
  {
    name: 'incomplete slashings taken for all',
    find: 'byIdentity.size >= block.attesterslashingscount;',
    replace: 'true;',
  },
  // The other sources.
  {
    name: 'page that is not full taken for the last',
    find: '    return { cursor: isLate && pages >= MAX_PAGES_WITH_LATE ? undefined : next, count };',
    replace: '    return { cursor: count < 10 ? undefined : next, count };',
  },
  {
    name: 'failed sweep publishes nothing',
    find: '    return { value: endedSweep(context), events, failure: error };',
    replace: '    throw error;',
  },
  {
    name: 'older record replaces a newer one',
    find: '  if (record.timestamp > held) newRecords.set(',
    replace: '  newRecords.set(',
  },
  {
    name: 'stale values not withdrawn',
    find: '  return Math.min(staleAfter(options, timing), options.forgetAfterMs);',
    replace: '  return options.forgetAfterMs;',
  },
  {
    name: 'stale values withdrawn only by a poll',
    find: 'nextChange: (value, timing) => nextMachineChange(options, value, timing),',
    replace: 'nextChange: () => Number.POSITIVE_INFINITY,',
  },
  {
    name: 'values withdrawn too early',
    find: '  return Math.min(staleAfter(options, timing), options.forgetAfterMs);',
    replace: '  return Math.min(staleAfter(options, timing), options.forgetAfterMs) / 4;',
  },
  {
    name: 'smaller day replaces a larger one',
    find: 'days.reduce((best, day) => (best && best.day > day.day ? best : day), known);',
    replace: 'days.at(-1) ?? known;',
  },
  {
    name: 'next sync committee never asked for',
    find: '    async poll(api, { period: known }, _, signal) {',
    replace:
      '    due: ({ period }) => (period ? Number.POSITIVE_INFINITY : 0),\n    async poll(api, { period: known }, _, signal) {',
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
    find: '    const entry = task.current;\n',
    replace: `    const entry = task.current;
    task.saved = entry;
    onChange(task.source);
`,
  },
  {
    name: 'failed write taken for success',
    find: `      return;
    }
    // A reload may have made it anew.`,
    replace: `    }
    // A reload may have made it anew.`,
  },
  {
    name: 'polls of one source overlap',
    find: '      if (task.running || task.stop.signal.aborted) continue;',
    replace: '      if (task.stop.signal.aborted) continue;',
  },
  {
    name: 'clock set back stops polling',
    find: '  if ((entry.lastAttemptAt ?? 0) > timing.now) return Math.max(timing.now, permittedAt);\n',
    replace: '',
  },
  {
    name: 'reload restarts the polls',
    find: '(source) => !ids.has(sourceId(source)) || isOtherService(this.#settings, next, source.chain),',
    replace: '() => true,',
  },
  {
    name: 'reload makes every source new',
    find: 'const task = known && !known.stop.signal.aborted ? known : newTask(id, source, entries.get(id));',
    replace: 'const task = known ? newTask(id, source) : newTask(id, source, entries.get(id));',
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
