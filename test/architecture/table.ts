/** Who may import whom, as docs/internals/architecture.md says it: the part, the parts it may import, the npm packages. */
export interface Row {
  readonly part: string;
  /** What it is for: it does that, and nothing else. */
  readonly what: string;
  readonly imports: readonly string[];
  /** Parts of which only the types may be imported. */
  readonly types?: readonly string[];
  /** `name` or, for one file only, `name in file`. */
  readonly packages: readonly string[];
}

/** Everything but the folders of sources. */
const ALL = ['*'];
const WIRE = ['api/answers', 'api/endpoints'];

/** The files of a source that have the same names in all sources. The other ones are its reads and what these share. */
export const PARTS_OF_SOURCES = [
  'config',
  'options',
  'state',
  'events',
  'metrics',
  'page',
  'history',
  'probe',
  'index',
];

/**
 * `sources` is the contract and the code that several sources share. What is written `sources/*` lies in the folder of one
 * source: its files may import each other as well, but never another source. `config` and `state` import no other file.
 */
const ROWS: readonly (Omit<Row, 'packages'> & Partial<Row>)[] = [
  {
    part: 'toolkit',
    what: 'What any exporter could use: clock, log, files, Redis, YAML, flags, exposition, web server.',
    imports: [],
    packages: [
      'pino in log.ts',
      'zod',
      'yaml in document.ts',
      '@redis/client in redis.ts',
      'negotiator in server.ts',
      'bcryptjs in bcrypt-worker.ts',
    ],
  },
  {
    part: 'facts',
    what: 'Constants of the chains and the plans, sets of validators, shared fields of the config file, units of metrics, versions.',
    imports: ['toolkit'],
    packages: ['zod in fields.ts'],
  },
  {
    part: 'config',
    what: 'Turns a YAML file, flags and the environment into one checked configuration.',
    imports: ['toolkit', 'facts'],
    packages: ['zod'],
  },
  {
    part: 'budget',
    what: 'Decides when the next request may be sent, and which intervals the limits allow.',
    imports: ['toolkit', 'facts'],
    packages: ['zod'],
  },
  {
    part: 'api/answers',
    what: 'The fields of the answers that are read.',
    imports: ['toolkit', 'facts'],
    packages: ['zod'],
  },
  {
    part: 'api/endpoints',
    what: 'The table of endpoints: path, body, and how the answer is read.',
    imports: ['api/answers', 'toolkit', 'facts'],
    types: ['budget'],
    packages: ['zod'],
  },
  {
    part: 'api',
    what: 'Makes one request: budget, HTTP, retries, typed failures.',
    imports: [...WIRE, 'budget', 'toolkit', 'facts'],
    packages: ['undici', 'zod'],
  },
  {
    part: 'sources',
    what: 'The contract of a source, its content on the status page, and the notices that match alerts.',
    imports: [...WIRE, 'toolkit', 'facts'],
    types: ['api'],
    packages: ['zod'],
  },
  {
    part: 'sources/*/config',
    what: 'Its section of the config file: schema, doubts, and where it names chains.',
    imports: ['toolkit', 'facts'],
    packages: ['zod'],
  },
  {
    part: 'sources/*/options',
    what: 'What it is told: its settings, the chains and the groups.',
    imports: ['sources', 'toolkit', 'facts'],
  },
  {
    part: 'sources/*/state',
    what: 'The value that is kept.',
    imports: ['sources', 'api/answers', 'facts'],
    types: ['toolkit'],
    packages: ['zod'],
  },
  {
    part: 'sources/*/events',
    what: 'What it logs.',
    imports: ['sources', 'facts'],
  },
  {
    part: 'sources/*/metrics',
    what: 'Turns the value into families.',
    imports: ['sources', 'api/answers', 'toolkit', 'facts'],
  },
  {
    part: 'sources/*/page',
    what: 'Turns the value into content of the status page.',
    imports: ['sources', 'api/answers', 'toolkit', 'facts'],
  },
  {
    part: 'sources/*/history',
    what: 'How the past is read, for the backfill.',
    imports: ['sources', 'api', ...WIRE, 'toolkit', 'facts'],
  },
  {
    part: 'sources/*/probe',
    what: 'What `check --probe` asks.',
    imports: ['sources', 'api/endpoints', 'toolkit', 'facts'],
  },
  {
    part: 'sources/*/index',
    what: 'The source: the parts above, and its reads. A small source is this file and its config alone.',
    imports: ['sources', 'api', ...WIRE, 'toolkit', 'facts'],
    packages: ['zod'],
  },
  {
    part: 'sources/*/other',
    what: 'Its reads, and what they share.',
    imports: ['sources', 'api', ...WIRE, 'toolkit', 'facts'],
    types: ['budget'],
    packages: ['zod in blocks.ts', 'zod in epoch-parts.ts'],
  },
  {
    part: 'sources/registry',
    what: 'The whole config file, and the sources that it enables. Only this part imports the folders of sources.',
    imports: [
      'sources',
      'sources/*/config',
      'sources/*/index',
      'sources/*/options',
      'sources/*/history',
      'sources/*/other',
      'config',
      'toolkit',
      'facts',
    ],
    packages: ['zod'],
  },
  {
    part: 'backfill',
    what: 'A run plans, reads pages into a store, and writes OpenMetrics files.',
    imports: ['sources', 'api', 'api/endpoints', 'budget', 'toolkit', 'facts'],
    packages: ['zod'],
  },
  {
    part: 'scheduler',
    what: 'Decides which reads are due, runs them as rounds, and shows what was stored.',
    imports: ['sources', 'api', 'api/endpoints', 'budget', 'toolkit', 'facts'],
    packages: ['zod in entry.ts', 'zod in refusals.ts'],
  },
  {
    part: 'status-page',
    what: 'What a person sees in a browser: the status page and the documentation.',
    imports: ['scheduler', 'sources', 'api/endpoints', 'budget', 'toolkit', 'facts'],
  },
  {
    part: 'sandbox',
    what: 'The simulated service of `demo`, `sandbox` and the tests.',
    imports: ['toolkit', 'facts'],
    packages: ['zod in answer.ts', 'zod in body.ts'],
  },
  {
    part: 'exporter',
    what: 'The running parts, put together in one class, and the layout of /metrics.',
    imports: [
      'toolkit',
      'facts',
      'budget',
      'api',
      'api/endpoints',
      'sources',
      'sources/registry',
      'scheduler',
      'status-page',
    ],
    packages: ['zod', 'prom-client in own-metrics.ts'],
  },
  { part: 'commands', what: 'The command line: flags and one file for each command.', imports: ALL, packages: ALL },
  { part: 'main', what: 'Starts the program.', imports: ALL },
];

export const TABLE: readonly Row[] = ROWS.map((row) => ({ packages: [], ...row }));

/** Where the code departs from the table, and why it may. One that is not needed any more fails the test. */
export const DEPARTURES: readonly (readonly [file: string, imports: string, why: string])[] = [
  ['toolkit/lib/log.ts', 'pino-pretty', 'writes the lines of pino for a terminal'],
  ['sources/answers.ts', 'api', 'refuses an answer about the future'],
];

/** The doors to real time, and who may use them. */
export const CLOCKS: readonly (readonly [file: string, what: string, why: string])[] = [
  ['toolkit/lib/clock.ts', 'Date.now', 'the clock'],
  ['toolkit/lib/clock.ts', 'performance.now', 'the clock'],
  ['toolkit/lib/clock.ts', 'setTimeout', 'the clock'],
  ['toolkit/lib/clock.ts', 'node:timers/promises', 'the clock'],
  ['toolkit/lib/clock.ts', 'setImmediate', 'gives others a turn, however long that takes'],
  ['api/transport.ts', 'AbortSignal.timeout', 'undici takes a signal, and a test of the limit needs the real thing'],
  ['commands/run.ts', 'setTimeout', 'ends a process that does not stop by itself'],
];

export const MAX_FILE = 600;
