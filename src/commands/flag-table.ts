/** What each command does. */
export const COMMANDS = {
  serve: 'polls the API and serves the metrics (the default)',
  check: 'checks the configuration and prints what it will cost',
  backfill: 'writes the past as OpenMetrics with timestamps, of which promtool makes blocks',
  sandbox: 'serves a simulated API',
  demo: 'runs sandbox and exporter in one process, without a key or network',
} as const;

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

export interface Flag {
  readonly name: string;
  /** A boolean takes no value, and `--no-NAME` makes it false. The others take a value, named `value` in the help. `texts` can be repeated. */
  readonly kind: 'boolean' | 'text' | 'texts';
  readonly value?: string;
  readonly commands: readonly CommandName[];
  readonly help: string;
  /** A boolean that is true where nothing is given. */
  readonly isOn?: true;
  /** The section and key of the config file that the flag goes before. */
  readonly config?: readonly [string, string];
}

const SERVERS = ['serve', 'sandbox', 'demo'] as const satisfies CommandName[];

const BACKFILL = [
  {
    name: 'source',
    kind: 'text',
    value: 'SOURCE',
    commands: ['backfill'],
    help: 'What to read: daily-returns or machines.',
  },
  {
    name: 'output',
    kind: 'text',
    value: 'FILE',
    commands: ['backfill'],
    help: 'Where to write; further files are FILE.2, FILE.3 and so on.',
  },
  {
    name: 'chain',
    kind: 'text',
    value: 'CHAIN',
    commands: ['backfill'],
    help: 'mainnet or hoodi (default all that are configured).',
  },
  {
    name: 'window',
    kind: 'text',
    value: 'WINDOW',
    commands: ['backfill'],
    help: 'Daily returns: 24h, 7d, 30d, 90d or all_time (the default), on every plan.',
  },
  {
    name: 'start',
    kind: 'text',
    value: 'TIME',
    commands: ['backfill'],
    help: 'Unix seconds or RFC 3339. Machines: at most 31 days ago (the default). Daily returns: not on every plan.',
  },
  {
    name: 'end',
    kind: 'text',
    value: 'TIME',
    commands: ['backfill'],
    help: 'Unix seconds or RFC 3339 (default now).',
  },
  {
    name: 'label',
    kind: 'texts',
    value: 'NAME=VALUE',
    commands: ['backfill'],
    help: 'Added to every series, can be repeated: job and instance of the target join past and present.',
  },
  {
    name: 'step',
    kind: 'text',
    value: 'DURATION',
    commands: ['backfill'],
    help: 'Daily returns: repeat each value so often until the next day (default once).',
  },
  {
    name: 'full-resolution',
    kind: 'boolean',
    commands: ['backfill'],
    help: 'Machines: ask for spans so short that the service leaves no record out.',
  },
  {
    name: 'max-samples',
    kind: 'text',
    value: 'NUMBER',
    commands: ['backfill'],
    help: 'Samples in one file at most (default 5000000); machines have a file per day at least.',
  },
  { name: 'resume', kind: 'boolean', commands: ['backfill'], help: 'Go on where an interrupted run ended.' },
  { name: 'yes', kind: 'boolean', commands: ['backfill'], help: 'Begin also where the budget does not carry it.' },
] as const satisfies readonly Flag[];

const FLAGS = [
  {
    name: 'config.file',
    kind: 'text',
    value: 'FILE',
    commands: COMMAND_NAMES,
    help: 'Configuration file. Without one the defaults hold.',
  },
  { name: 'config.check', kind: 'boolean', commands: ['serve'], help: 'Do the same as the command check.' },
  {
    name: 'probe',
    kind: 'boolean',
    commands: ['check'],
    help: 'Make one cheap request to learn plan, limits and validity of the key.',
  },
  ...BACKFILL,
  {
    name: 'web.listen-address',
    kind: 'text',
    value: 'ADDRESS',
    commands: SERVERS,
    help: 'Where to listen: host:port or :port (default :10032).',
    config: ['web', 'listen_address'],
  },
  {
    name: 'web.telemetry-path',
    kind: 'text',
    value: 'PATH',
    commands: SERVERS,
    help: 'Path of the metrics (default /metrics).',
    config: ['web', 'telemetry_path'],
  },
  {
    name: 'web.config.file',
    kind: 'text',
    value: 'FILE',
    commands: SERVERS,
    help: 'TLS, authentication and rate limit, as in other exporters.',
    config: ['web', 'config_file'],
  },
  {
    name: 'web.disable-exporter-metrics',
    kind: 'boolean',
    commands: SERVERS,
    help: 'Leave out the metrics about the exporter itself.',
  },
  {
    name: 'web.enable-lifecycle',
    kind: 'boolean',
    commands: SERVERS,
    help: 'Allow reloads by POST /-/reload (default true).',
    isOn: true,
  },
  {
    name: 'log.level',
    kind: 'text',
    value: 'LEVEL',
    commands: COMMAND_NAMES,
    help: 'debug, info, warn or error (default info).',
    config: ['log', 'level'],
  },
  {
    name: 'log.format',
    kind: 'text',
    value: 'FORMAT',
    commands: COMMAND_NAMES,
    help: 'json or pretty (default pretty on a terminal, json otherwise).',
    config: ['log', 'format'],
  },
] as const satisfies readonly Flag[];

/** The flags that there are, in the order of the help; help and version apart. */
export const TABLE: readonly Flag[] = FLAGS;

interface ValueOf {
  readonly boolean: boolean;
  readonly text: string;
  readonly texts: readonly string[];
}

/** What the command line and the environment give; a flag that neither gives is absent. */
export type Flags = { readonly [F in (typeof FLAGS)[number] as F['name']]?: ValueOf[F['kind']] };
