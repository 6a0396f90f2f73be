import type { Breakage } from './breakage.ts';

/** Faults of the scheduler, of a start, of a reload, and of /metrics. */
export const PROCESS_BREAKAGES: readonly Breakage[] = [
  {
    name: 'a timer left by each request',
    file: 'api/client.ts',
    find: '        return await attempt(request, read, signal);',
    replace: `        void clock.sleep(86_400_000).catch(() => undefined);
        return await attempt(request, read, signal);`,
    why: 'Memory grows with the number of requests.',
  },
  {
    name: 'revocation logged without a cause',
    file: 'exporter/event-log.ts',
    find: '    else this.keyRefused(key);',
    replace: `    else this.keyRefused(key);
    this.#log.error({}, KEY_MESSAGES.revoked);`,
    why: 'An operator is told to renew a subscription that is valid.',
  },
  {
    name: 'value shown before it is written',
    file: 'scheduler/scheduler.ts',
    find: '    const entry = task.current;\n',
    replace: `    const entry = task.current;
    task.saved = entry;
    onChange(task.source);
`,
    why: 'After kill -9 a counter that was scraped steps back.',
  },
  {
    name: 'failed write taken for success',
    file: 'scheduler/scheduler.ts',
    find: `      return;
    }
    task.saved = entry;`,
    replace: `    }
    task.saved = entry;`,
    why: 'A value is shown although it could not be written, and steps back after kill -9.',
  },
  {
    name: 'more waits with each failed write',
    file: 'exporter/client.ts',
    find: '      if (isWaiting) return;\n',
    replace: '',
    why: 'While the disk is full, timers and log grow without end.',
  },
  {
    name: 'failed write not counted',
    file: 'exporter/exporter.ts',
    find: '        this.#own.stateWriteFailed();\n',
    replace: '',
    why: 'An operator does not see that the state is not kept.',
  },
  {
    name: 'polls of one source overlap',
    file: 'scheduler/scheduler.ts',
    find: '      if (task.running || task.isHeld) continue;',
    replace: '      if (task.isHeld) continue;',
    why: 'A tick that comes during a poll starts another one instead of being dropped.',
  },
  {
    name: 'configured interval told',
    file: 'exporter/metrics.ts',
    find: '    ({ pace }) => pace.intervalMs / 1000,',
    replace: '    ({ source }) => source.intervalMs / 1000,',
    why: 'The interval on /metrics is not the one that a stretched budget keeps.',
  },
  {
    name: 'everything due at a start',
    file: 'state/entry.ts',
    find: '  lastAttemptAt: unixMs.exactOptional(),',
    replace: '  lastAttemptAt: unixMs.transform(() => 0).exactOptional(),',
    why: 'A restart polls what is not due.',
  },
  {
    name: 'forbidden source not paused',
    file: 'scheduler/polls.ts',
    find: 'const FORBIDDEN_PAUSE_MS = 3_600_000;',
    replace: 'const FORBIDDEN_PAUSE_MS = 0;',
    why: 'A request that the plan does not include is repeated within the hour.',
  },
  {
    name: 'clock set back stops polling',
    file: 'scheduler/polls.ts',
    find: '  if (entry.lastAttemptAt !== undefined && entry.lastAttemptAt > timing.now) return Math.max(timing.now, permittedAt);\n',
    replace: '',
    why: 'No source is polled until the clock shows the time of its last poll again.',
  },
  {
    name: 'reload restarts the polls',
    file: 'exporter/exporter.ts',
    find: '(source) => !ids.has(sourceId(source)) || isOtherService(this.#settings, next, source.chain),',
    replace: '() => true,',
    why: 'Where reloads come often, no poll ever finishes.',
  },
  {
    name: 'reload makes every source new',
    file: 'scheduler/tasks.ts',
    find: 'const task = before.get(id) ?? newTask(id, source);',
    replace: 'const task = newTask(id, source);',
    why: 'The poll in progress is forgotten: a second one overlaps it, and the later result replaces the other.',
  },
  {
    name: 'quotes of a label not escaped',
    file: 'metrics/encode.ts',
    find: `  return escapeHelp(readableText(text)).replace(/"/g, '\\\\"');`,
    replace: '  return escapeHelp(readableText(text));',
    why: 'A machine with a quote in its name makes /metrics unreadable.',
  },
  {
    name: 'families of two chains not merged',
    file: 'exporter/metrics.ts',
    find: 'others.length === 0 ? first : mergeFamilies([first, ...others].flat());',
    replace: 'others.length === 0 ? first : [first, ...others].flat();',
    why: 'With two chains HELP and TYPE of a family come twice.',
  },
];
