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

/** What the table says of a flag. Without `value` it is a boolean, and `--no-NAME` makes it false. */
interface FlagDescription {
  readonly help: string;
  /** What the help calls its value. */
  readonly value?: string;
  /** It may be given several times. */
  readonly isRepeatable?: true;
  /** A boolean that is true by default. */
  readonly isOn?: true;
  /** The section and key of the config file that the flag overrides. */
  readonly config?: readonly [string, string];
}

export interface Flag extends FlagDescription {
  readonly name: string;
  readonly commands: readonly CommandName[];
}

type Table = Readonly<Record<string, FlagDescription>>;

const CONFIG = {
  'config.file': { value: 'FILE', help: 'Configuration file. Without one the defaults hold.' },
} as const satisfies Table;

const SERVE = {
  'config.check': { help: 'Do the same as the command check.' },
} as const satisfies Table;

const CHECK = {
  probe: { help: 'Ask every enabled endpoint once, and say what of the answers is not as specified.' },
  'probe.dump': {
    value: 'DIR',
    help: 'Probe, and write the answers into this empty folder, with everything personal replaced.',
  },
} as const satisfies Table;

const BACKFILL = {
  source: { value: 'SOURCE', help: 'What to read: daily-returns or machines.' },
  output: { value: 'FILE', help: 'Where to write; further files are FILE.2, FILE.3 and so on.' },
  chain: { value: 'CHAIN', help: 'mainnet or hoodi (default all that are configured).' },
  window: { value: 'WINDOW', help: 'Daily returns: 24h, 7d, 30d, 90d or all_time (the default), on every plan.' },
  start: {
    value: 'TIME',
    help: 'Unix seconds, RFC 3339 or -6h. Machines: at most 31 days ago (the default). Daily returns: not on every plan.',
  },
  end: { value: 'TIME', help: 'As --start, or now. Without it, what scrapes have covered is left out.' },
  label: {
    value: 'NAME=VALUE',
    isRepeatable: true,
    help: 'Added to every series, can be repeated: job and instance of the target join past and present.',
  },
  step: { value: 'DURATION', help: 'Daily returns: repeat each value so often until the next day (default once).' },
  'full-resolution': { help: 'Machines: ask for spans so short that the service leaves no record out.' },
  'max-samples': {
    value: 'NUMBER',
    help: 'Samples in one file at most (default 5000000); machines have a file per day at least.',
  },
  resume: { help: 'Continue where an interrupted run ended; its other flags need not be given again.' },
} as const satisfies Table;

const CONSENT = {
  yes: { help: 'Do not ask; a backfill begins even if the budget does not allow it, or if --end damages graphs.' },
} as const satisfies Table;

const WEB = {
  'web.listen-address': {
    value: 'ADDRESS',
    config: ['web', 'listen_address'],
    help: 'Where to listen: host:port or :port (default :10032).',
  },
  'web.telemetry-path': {
    value: 'PATH',
    config: ['web', 'telemetry_path'],
    help: 'Path of the metrics (default /metrics).',
  },
  'web.config.file': {
    value: 'FILE',
    config: ['web', 'config_file'],
    help: 'TLS, authentication and rate limit, as in other exporters.',
  },
  'web.disable-exporter-metrics': { help: 'Leave out the metrics about the exporter itself.' },
  'web.enable-lifecycle': { isOn: true, help: 'Allow reloads by POST /-/reload (default true).' },
} as const satisfies Table;

const DEMO = {
  'sandbox.listen-address': {
    value: 'ADDRESS',
    help: 'Where the simulated service takes orders and alerts (default :10033; without a host on loopback).',
  },
} as const satisfies Table;

/** What the sandbox has of them: it serves no metrics and has nothing to reload. */
const WITHOUT_METRICS = ['web.listen-address', 'web.config.file'];

const LOG = {
  'log.level': { value: 'LEVEL', config: ['log', 'level'], help: 'debug, info, warn or error (default info).' },
  'log.format': {
    value: 'FORMAT',
    config: ['log', 'format'],
    help: 'json or pretty (default pretty on a terminal, json otherwise).',
  },
} as const satisfies Table;

/** The flags that there are, in the order of the help; help and version apart. */
export const TABLE: readonly Flag[] = [
  ...flagsOf(COMMAND_NAMES, CONFIG),
  ...flagsOf(['serve'], SERVE),
  ...flagsOf(['check'], CHECK),
  ...flagsOf(['backfill'], BACKFILL),
  ...flagsOf(['check', 'backfill'], CONSENT),
  ...flagsOf(['serve', 'sandbox', 'demo'], WEB).map((flag) =>
    WITHOUT_METRICS.includes(flag.name) ? flag : { ...flag, commands: ['serve', 'demo'] as const },
  ),
  ...flagsOf(['demo'], DEMO),
  ...flagsOf(COMMAND_NAMES, LOG),
];

function flagsOf(commands: readonly CommandName[], table: Table): Flag[] {
  return Object.entries(table).map(([name, description]) => ({ name, commands, ...description }));
}

type Descriptions = typeof CONFIG &
  typeof SERVE &
  typeof CHECK &
  typeof BACKFILL &
  typeof CONSENT &
  typeof WEB &
  typeof DEMO &
  typeof LOG;

/** What a flag holds by its description. */
type ValueOf<D> = D extends { isRepeatable: true } ? readonly string[] : D extends { value: string } ? string : boolean;

/** What the command line and the environment give; a flag that neither gives is absent. */
export type Flags = { readonly [Name in keyof Descriptions]?: ValueOf<Descriptions[Name]> };
