import {
  type Command as CommandOf,
  type Flag,
  type FlagDescription,
  type FlagsOf,
  type Program,
  parseCommand as parse,
} from '../toolkit/flags/flags.ts';
import type { Environment } from '../toolkit/yaml/document.ts';

const COMMANDS = {
  serve: 'poll the API and serve the metrics (default)',
  check: 'check the configuration and print its cost in requests',
  backfill: 'write history as OpenMetrics with timestamps, from which promtool creates blocks',
  sandbox: 'serve a simulated service',
  demo: 'run the sandbox and the exporter in one process, without a key or network access',
} as const;

export type CommandName = keyof typeof COMMANDS;

const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

type Table = Readonly<Record<string, FlagDescription>>;

const CONFIG = {
  'config.file': { value: 'FILE', help: 'Configuration file (default: none).' },
} satisfies Table;

const SERVE = {
  'config.check': { help: 'Same as the command check.' },
} satisfies Table;

const CHECK = {
  probe: { help: 'Send one request to each enabled endpoint, and report what can be read.' },
  'without-key': {
    help: 'With --probe: send each form of a request once without a key, and report what the status says about it. Needs no configuration.',
  },
  report: {
    value: 'FILE',
    help: 'Write the forms of the requests and responses of the probe to a new file, without names, indices, keys or amounts.',
  },
  yes: { help: 'Probe without asking for confirmation; needed without a terminal.' },
  'safe-to-restart': {
    value: 'DURATION',
    fallback: '30m',
    help: 'Ask whether a watched validator is in a sync committee within this time (default 30m). Exit 0: none is; 5: one is, or it is not known.',
  },
} satisfies Table;

export const BACKFILL = {
  source: { value: 'SOURCE', help: 'Source of the history: daily-returns, machines or validators.' },
  output: { value: 'FILE', help: 'Output file; further files are FILE.2, FILE.3 and so on.' },
  chain: { value: 'CHAIN', help: 'mainnet or hoodi (default all configured chains).' },
  window: { value: 'WINDOW', help: 'Daily returns: 24h, 7d, 30d, 90d or all_time (default). Available on every plan.' },
  start: {
    value: 'TIME',
    help: 'Unix seconds, RFC 3339 or -6h. Machines: at most 31 days ago (default). Daily returns: not on every plan. Validators: required.',
  },
  end: {
    value: 'TIME',
    help: 'As --start, or now. Default: six minutes before the first start of the exporter with this state, for validators before the first epoch that it counted, or now.',
  },
  label: {
    value: 'NAME=VALUE',
    isRepeatable: true,
    help: 'Label to add to every series (repeatable). Set job and instance to join the series that are scraped.',
  },
  step: {
    value: 'DURATION',
    help: 'Daily returns: repeat each value at this interval until the next day (default: write it once).',
  },
  'full-resolution': { help: 'Machines: read 12 hours at a time, so that the service leaves out no records.' },
  resume: { help: 'Continue an interrupted run; the other flags of that run are remembered.' },
  yes: { help: 'Start even if the run takes more requests than are left this month.' },
} satisfies Table;

const LISTEN = {
  'web.listen-address': {
    value: 'ADDRESS',
    isRepeatable: true,
    config: ['web', 'listen_address'],
    help: 'Listen on host:port or :port (default :10032); repeatable.',
  },
} satisfies Table;

const DEMO = {
  'web.listen-address': {
    ...LISTEN['web.listen-address'],
    help: 'Listen on host:port, or :port on loopback (default :10032); repeatable.',
  },
  'sandbox.listen-address': {
    value: 'ADDRESS',
    help: 'Where the simulated service accepts orders and alerts: host:port, or :port on loopback (default :10033).',
  },
  prometheus: {
    isOn: true,
    help: 'Start Prometheus and Alertmanager too, if they are installed (default true).',
  },
} satisfies Table;

const WEB = {
  'web.telemetry-path': {
    value: 'PATH',
    config: ['web', 'telemetry_path'],
    help: 'Path of the metrics (default /metrics).',
  },
  'web.disable-exporter-metrics': { help: 'Exclude metrics about the process (process_*, nodejs_*).' },
  'web.enable-lifecycle': { isOn: true, help: 'Enable reloads by POST /-/reload (default true).' },
  'web.config.file': {
    value: 'FILE',
    config: ['web', 'config_file'],
    help: 'File with TLS settings and passwords.',
  },
} satisfies Table;

const EXTERNAL_URL = {
  'web.external-url': {
    value: 'URL',
    config: ['web', 'external_url'],
    help: 'URL at which you reach the exporter, for links in alerts.',
  },
} satisfies Table;

const LOG = {
  'log.level': { value: 'LEVEL', config: ['log', 'level'], help: 'debug, info, warn or error (default info).' },
  'log.format': {
    value: 'FORMAT',
    config: ['log', 'format'],
    help: 'json or pretty (default pretty on a terminal, json otherwise).',
  },
} satisfies Table;

export const PROGRAM: Program<CommandName> = {
  name: 'beaconchain-exporter',
  about: 'Prometheus exporter for beaconcha.in.',
  commands: COMMANDS,
  byDefault: 'serve',
  file: 'config.file',
  flags: [
    ...flagsOf(COMMAND_NAMES, CONFIG),
    ...flagsOf(['serve'], SERVE),
    ...flagsOf(['check'], { ...CHECK, 'web.config.file': WEB['web.config.file'] }),
    ...flagsOf(['backfill'], BACKFILL),
    ...flagsOf(['serve', 'sandbox'], LISTEN),
    ...flagsOf(['demo'], DEMO),
    ...flagsOf(['serve', 'sandbox', 'demo'], WEB),
    ...flagsOf(['serve', 'check', 'sandbox', 'demo'], EXTERNAL_URL),
    ...flagsOf(COMMAND_NAMES, LOG),
  ],
  notes: [
    'Each flag has an environment variable, such as BEACONCHAIN_EXPORTER_CONFIG_FILE for --config.file.',
    'Precedence: flag > environment > file > default.',
    'BEACONCHAIN_API_KEY is the API key, BEACONCHAIN_API_KEY_FILE a file that contains it.',
  ],
};

function flagsOf(commands: readonly CommandName[], table: Table): Flag<CommandName>[] {
  return Object.entries(table).map(([name, description]) => ({ name, commands, ...description }));
}

export type Flags = FlagsOf<
  typeof CONFIG &
    typeof SERVE &
    typeof CHECK &
    typeof BACKFILL &
    typeof LISTEN &
    typeof DEMO &
    typeof WEB &
    typeof EXTERNAL_URL &
    typeof LOG
>;

export type Command = CommandOf<CommandName, Flags>;

/** @throws UsageError */
export function parseCommand(argv: readonly string[], env: Environment): Command {
  const command = parse<CommandName, Flags>(PROGRAM, argv, env);
  return 'flags' in command && command.flags['config.check'] ? { ...command, name: 'check' } : command;
}
