/** Who may import whom, as the architecture says it: the part, the parts it may import, the npm packages. */
export interface Row {
  readonly part: string;
  readonly imports: readonly string[];
  /** Parts of which only the types may be imported. */
  readonly types?: readonly string[];
  /** `name` or, for one file only, `name in file`. */
  readonly packages: readonly string[];
}

const ALL = ['*'];

/**
 * `sources` is the contract (sources/source.ts and the list, sources/index.ts). What is written `sources/*` lies in the
 * folder of one source: its files may import each other as well, but never another source.
 */
export const TABLE: readonly Row[] = [
  { part: 'lib', imports: [], packages: ['pino'] },
  { part: 'metrics', imports: ['lib'], packages: ['prom-client in self.ts'] },
  { part: 'page', imports: ['lib'], packages: [] },
  { part: 'config', imports: ['lib'], packages: ['zod', 'yaml'] },
  { part: 'budget', imports: ['lib'], packages: ['zod'] },
  { part: 'api', imports: ['budget', 'lib'], packages: ['undici', 'zod'] },
  { part: 'sources', imports: ['lib'], types: ['api', 'metrics', 'page'], packages: ['zod'] },
  { part: 'sources/*/schema', imports: [], packages: ['zod'] },
  { part: 'sources/*/poll', imports: ['sources', 'api', 'lib'], packages: [] },
  { part: 'sources/*/metrics', imports: ['sources', 'metrics', 'lib'], packages: [] },
  { part: 'sources/*/summary', imports: ['sources', 'page', 'lib'], packages: [] },
  { part: 'sources/*/sandbox', imports: ['lib'], packages: [] },
  { part: 'sources/*/index', imports: ['sources', 'lib'], types: ['api', 'metrics'], packages: [] },
  // The parts of a source with names of their own.
  { part: 'sources/*/other', imports: ['sources', 'lib'], types: ['api', 'metrics'], packages: [] },
  {
    part: 'snapshot',
    imports: ['sources', 'lib'],
    packages: ['zod', 'atomically in file.ts', '@redis/client in redis-link.ts'],
  },
  {
    part: 'backfill',
    imports: ['sources', 'api', 'budget', 'metrics', 'lib'],
    packages: ['zod', 'atomically in work-folder.ts'],
  },
  { part: 'scheduler', imports: ['sources', 'snapshot', 'api', 'budget', 'lib'], packages: [] },
  { part: 'status', imports: ['scheduler', 'sources', 'budget', 'page', 'lib'], packages: [] },
  { part: 'http', imports: ['http/web-config', 'metrics', 'page', 'lib'], packages: [] },
  // A second config file: it reads YAML and tells mistakes with the words of the first.
  { part: 'http/web-config', imports: ['config', 'lib'], packages: ['zod', 'bcryptjs in bcrypt-worker.ts'] },
  { part: 'sandbox', imports: ['sources/*/sandbox', 'lib'], packages: [] },
  { part: 'programs', imports: ALL, packages: ALL },
];

/** Where the code departs from the table, and why it may. One that is not needed any more fails the test. */
export const DEPARTURES: readonly (readonly [file: string, imports: string, why: string])[] = [
  ['http/server.ts', 'negotiator', 'reads Accept by q-values'],
  ['lib/log.ts', 'pino-pretty', 'writes the lines of pino for a terminal'],
  ['sources/machines/reading.ts', 'api', 'the requests of poll.ts'],
  ['sources/slashings/finalized-pass.ts', 'api', 'a half of poll.ts, which would be too long'],
  ['sources/slashings/read.ts', 'api', 'the requests of poll.ts'],
  ['sources/slashings/read.ts', 'budget', 'the type of a priority'],
];

/** The doors to real time, and who may use them. */
export const CLOCKS: readonly (readonly [file: string, what: string, why: string])[] = [
  ['lib/clock.ts', 'Date.now', 'the clock'],
  ['lib/clock.ts', 'performance', 'the clock'],
  ['lib/clock.ts', 'setTimeout', 'the clock'],
  ['lib/clock.ts', 'node:timers/promises', 'the clock'],
  ['api/transport.ts', 'AbortSignal.timeout', 'undici takes a signal, and a test of the limit needs the real thing'],
  ['http/rendered-page.ts', 'node:timers/promises', 'gives others a turn, however long that takes'],
  ['http/rendered-page.ts', 'setImmediate', 'gives others a turn, however long that takes'],
  ['http/web-config/tls-server.ts', 'setImmediate', 'gives others a turn, however long that takes'],
  ['http/limits.ts', 'setTimeout', 'ends an answer that is not taken'],
  ['metrics/exposition.ts', 'node:timers/promises', 'gives others a turn, however long that takes'],
  ['metrics/exposition.ts', 'setImmediate', 'gives others a turn, however long that takes'],
  ['program.ts', 'setTimeout', 'ends a process that does not stop by itself'],
];

export const LONGEST_FILE = 250;
