import type { Breakage } from './breakage.ts';

/** Faults of the other sources, and of reading answers. */
export const SOURCES_BREAKAGES: readonly Breakage[] = [
  {
    name: 'bad record drops its neighbours',
    file: 'api/client.ts',
    find: '        if (parsed.success && isPlausible(parsed.data)) good.push(parsed.data);',
    replace: `        if (!parsed.success) return [];
        if (isPlausible(parsed.data)) good.push(parsed.data);`,
    why: 'One unreadable record hides all others of its page.',
  },
  {
    name: 'page that is not full taken for the last',
    file: 'sources/machines/poll.ts',
    find: '    return { cursor: isLate && pages >= MAX_PAGES_WITH_LATE ? undefined : next, records: count };',
    replace: '    return { cursor: count < 10 ? undefined : next, records: count };',
    why: 'The machines of the pages that follow are not read.',
  },
  {
    name: 'range missing from the next page',
    file: 'sources/machines/poll.ts',
    find: '    range: { timestamp: range },',
    replace: '    ...(cursor === undefined ? { range: { timestamp: range } } : {}),',
    why: 'A cursor is valid only with every other field of the body unchanged.',
  },
  {
    name: 'record of the future accepted',
    file: 'sources/machines/poll.ts',
    find: '  return ({ timestamp }) => timestamp <= latest;',
    replace: '  return ({ timestamp }) => timestamp <= latest * 2;',
    why: 'A record with a wrong clock is never replaced by a real one.',
  },
  {
    name: 'failed sweep publishes nothing',
    file: 'sources/machines/poll.ts',
    find: '    return { value: ended(context), failure: error };',
    replace: '    throw error;',
    why: 'What a sweep read before it failed is lost, so values that are known are withdrawn.',
  },
  {
    name: 'older record replaces a newer one',
    file: 'sources/machines/sweep.ts',
    find: '  if (isNewerThan(machine)) sweep.machines.set(',
    replace: '  sweep.machines.set(',
    why: 'Pages begin with the newest record, so the oldest one is shown.',
  },
  {
    name: 'stale values not withdrawn',
    file: 'sources/machines/metrics.ts',
    find: '  return Math.min(staleAfter(options, timing), options.forgetAfterMs);',
    replace: '  return options.forgetAfterMs;',
    why: 'A machine that is down looks as if it were running.',
  },
  {
    name: 'stale values withdrawn only by a poll',
    file: 'sources/machines/index.ts',
    find: 'nextChange: (value, timing) => nextMachineChange(options, value, timing),',
    replace: 'nextChange: () => Number.POSITIVE_INFINITY,',
    why: 'During an outage old values stay.',
  },
  {
    name: 'values withdrawn too early',
    file: 'sources/machines/metrics.ts',
    find: '  return Math.min(staleAfter(options, timing), options.forgetAfterMs);',
    replace: '  return Math.min(staleAfter(options, timing), options.forgetAfterMs) / 4;',
    why: 'A machine that pushes each minute has gaps in its values.',
  },
  {
    name: 'last_seen withdrawn with the values',
    file: 'sources/machines/metrics.ts',
    find: '    seen: recordsUpTo(machine, options.forgetAfterMs, now),',
    replace: '    seen: recordsUpTo(machine, shownFor(options, timing), now),',
    why: 'A machine that is down disappears instead of being reported.',
  },
  {
    name: 'smaller day replaces a larger one',
    file: 'sources/daily-returns/poll.ts',
    find: 'days.reduce((best, day) => (best && best.day > day.day ? best : day), known);',
    replace: 'days.at(-1) ?? known;',
    why: 'An answer from a node that lags takes a day back.',
  },
  {
    name: 'next day never asked for',
    file: 'sources/daily-returns/index.ts',
    find: '      const endsAt = newest &&',
    replace: '      if (newest) return Number.POSITIVE_INFINITY;\n      const endsAt = newest &&',
    why: 'The day that was newest at the first start is shown for ever.',
  },
  {
    name: 'next sync committee never asked for',
    file: 'sources/sync-committee/index.ts',
    find: '  const endsAt = period &&',
    replace: '  if (period) return Number.POSITIVE_INFINITY;\n  const endsAt = period &&',
    why: 'The period of the first start is shown for ever.',
  },
  {
    name: 'sync committee asked once after its end',
    file: 'sources/source.ts',
    find: 'lastAttemptAt < at && !isKept ? at : Math.max(tick, at);',
    replace: 'lastAttemptAt < at && !isKept ? at : Number.POSITIVE_INFINITY;',
    why: 'A period that the service does not yet know at that time is not read for a day.',
  },
];
