import { resolve } from 'node:path';
import * as z from 'zod';
import { CHAIN_NAMES, CHAINS, type Chain } from '../facts/chain.ts';
import { PLANS } from '../facts/plans.ts';
import { type Watch, watchOf } from '../facts/watch.ts';
import { LOG_LEVELS } from '../toolkit/lib/log.ts';
import {
  autoOrDuration,
  baseUrl,
  count,
  duration,
  either,
  flag,
  keyPrefix,
  listenAddresses,
  optional,
  parsed,
  positive,
  redisUrl,
  SECOND,
  section,
  text,
} from '../toolkit/yaml/fields.ts';
import { ApiKey, ApiKeyFile } from './key.ts';

const Api = section({
  base_url: baseUrl
    .prefault('https://beaconcha.in')
    .describe('The base URL of the service. Change it only for tests or for your own proxy.'),
  key: ApiKey.optional().describe(
    'The API key of your account. The variables BEACONCHAIN_API_KEY and BEACONCHAIN_API_KEY_FILE override it.',
  ),
  key_file: ApiKeyFile.optional().describe(
    'A file that contains the API key; use it instead of `key`. It is read again at every reload.',
  ),
  // Node fires timers of more than 24 days immediately. More than an hour is not a useful timeout.
  timeout: duration(1, 3600 * SECOND)
    .prefault('10s')
    .describe('Timeout of a request. At most 1h.'),
})
  .meta({ not: { type: 'object', required: ['key', 'key_file'] } })
  .transform((api) => ({ baseUrl: api.base_url, timeoutMs: api.timeout }));

/** Limits of a plan without a name. Limits that are left out are learned from the service. */
const Rates = section({
  per_second: positive.optional().describe('Requests per second.'),
  per_month: count.optional().describe('Requests per month.'),
}).transform((rates) => ({ perSecond: rates.per_second, perMonth: rates.per_month }));

const plans = ['auto', ...(Object.keys(PLANS) as (keyof typeof PLANS)[])] as const;

const SHARE = 'a number above 0 and up to 1';

const Budget = section({
  plan: z
    .union([z.enum(plans), Rates], { error: either([...plans, '{per_second: 1, per_month: 1000}']) })
    .prefault('auto')
    .describe(
      'The limits to assume until the service reports them. auto: learn them from the responses. Otherwise the name of a plan, or your own limits.',
    ),
  utilization: z
    .number({ error: 'a number' })
    .gt(0, { error: SHARE })
    .max(1, { error: SHARE })
    .prefault(0.9)
    .describe('The share of each limit that this exporter may use. The rest is left for other users of the account.'),
});

function perChain<S extends z.ZodType>(schema: S, expected?: string) {
  const shape = Object.fromEntries(CHAIN_NAMES.map((chain) => [chain, schema])) as Record<Chain, S>;
  return section(shape, expected);
}

/** An empty chain has the defaults; an absent one is not configured. */
const Chains = perChain(
  section({
    v1_base_url: baseUrl
      .optional()
      .describe(
        "The base URL of the chain's API v1, for epochs, slashings and sync committee members. Default https://beaconcha.in for mainnet and https://hoodi.beaconcha.in for hoodi.",
      ),
  }).nullish(),
  'a mapping of chains such as {mainnet: {}}',
)
  .meta({ minProperties: 1 })
  .refine((chains) => Object.values(chains).some((settings) => settings !== undefined), {
    error: `expected at least one chain: ${either(CHAIN_NAMES)}`,
  });

const chain = z.enum(CHAIN_NAMES, { error: either(CHAIN_NAMES) });
const names = z.array(z.string({ error: 'a name (in quotes if it looks like a number)' }).min(1, { error: 'a name' }), {
  error: 'a list of names',
});

const enabled = flag
  .prefault(true)
  .describe('false: the exporter sends no requests for this source and exposes no series of it.');

const Machines = section({
  enabled,
  interval: duration(SECOND).prefault('1m').describe('The polling interval. The budget may stretch it.'),
  stale_after: autoOrDuration(SECOND)
    .prefault('auto')
    .describe(
      'The age at which the values of a silent machine are withdrawn; last_seen remains. auto: 10m or 2 x effective interval + 3m, whichever is longer.',
    ),
  forget_after: duration(SECOND).prefault('31d').describe('The age at which last_seen is withdrawn too.'),
  expected: names.prefault([]).describe('Machines that must exist. Their last_seen is 0 until they are seen.'),
  include: names.prefault([]).describe('Show only these machines and the expected ones. Empty: all machines.'),
  exclude: names.prefault([]).describe('Machines that are out of service. They have no series and no alerts.'),
  max: count.prefault(10_000).describe('The maximum number of machines. More machines are dropped and counted.'),
  chain: z
    .enum(['auto', ...CHAIN_NAMES], { error: either(['auto', ...CHAIN_NAMES]) })
    .prefault('auto')
    .describe(
      "The chain of machines that match no rule. auto: that of the machine's own node, found from two reports of its head slot; the first chain until then.",
    ),
  chain_rules: z
    .array(
      section({
        match: z.string({ error: 'a pattern such as "hoodi-*"' }).describe('A machine name; * matches any text.'),
        chain: chain.describe('The chain of the matching machines.'),
      }),
      {
        error: 'a list such as [{match: "hoodi-*", chain: hoodi}]',
      },
    )
    .prefault([])
    .describe('Rules that assign machines to chains. The first matching rule applies.'),
}).transform(({ interval, stale_after, forget_after, chain_rules, ...others }) => ({
  ...others,
  intervalMs: interval,
  staleAfterMs: stale_after,
  forgetAfterMs: forget_after,
  chainRules: chain_rules,
}));

/** The service uses the next number for an unknown proposer (api-facts 8.1). */
const MAX_INDEX = 2_147_483_646;

const RANGE = /^\d{1,15}(?:-\d{1,15})?$/;

/** An inclusive range of validator indices, from `12345` or `"20000-20099"`. */
const indexRange = z
  .union([z.int().min(0, { error: expectedIndex }), z.string().regex(RANGE, { error: expectedIndex })], {
    error: expectedIndex,
  })
  .transform((given) => {
    const [first = 0, last = first] = String(given).split('-').map(Number);
    return { first, last };
  })
  .refine(({ first, last }) => first <= last, { error: 'the start of the range is larger than its end' })
  .refine(({ last }) => last <= MAX_INDEX, { error: `expected validator indices of at most ${MAX_INDEX}` });

function expectedIndex({ input }: { readonly input?: unknown }): string {
  const isHex = typeof input === 'string' && /^(0x[\da-f]*|[\da-f]{96})$/i.test(input);
  return isHex
    ? 'validator indices, not public keys'
    : 'a validator index such as 12345 or a range such as "20000-20099"';
}

const ranges = z.array(indexRange, { error: 'a list of validator indices and ranges' });
const part = flag.prefault(true);
const watchList = z
  .union([ranges, perChain(ranges.optional())], {
    error: 'a list such as [12345, "20000-20099"], or one per chain such as {mainnet: [12345]}',
  })
  .prefault([]);

const Group = section({
  machines: names.prefault([]).describe('Its machines, by name; * matches any text. A name comes before a pattern.'),
  validators: watchList.describe('Its validators, as in validators.watch. They are watched.'),
});

const Groups = z.record(z.string().min(1), Group, {
  error: 'a mapping of groups such as {home: {machines: [node-a], validators: [12345]}}',
});

const Validators = section({
  watch: watchList.describe(
    'Your validators, by index. If several chains are configured, set one list per chain. Those of `groups` are watched too. Without any, the other keys have no effect.',
  ),
  proposer_slashings: part.describe(
    'Also read who was slashed as a proposer: one request for each block with a proposer slashing. Requires slashings.',
  ),
  sync_committee: part.describe(
    'Also read which of them are in the current and the next sync committee, and count their seats in each block. Counting requires slashings.',
  ),
  status: part.describe('Also read who is online, their status and balances, and the duties of the last 24 hours.'),
  rewards: part.describe(
    'Also read what they earned and missed in the last 24 hours. It comes with the status, so it requires status.',
  ),
  interval: duration(SECOND)
    .prefault('384s')
    .describe('The polling interval of the status, an epoch by default: the service computes it once an epoch.'),
}).transform(({ proposer_slashings, sync_committee, interval, ...others }) => ({
  ...others,
  proposerSlashings: proposer_slashings,
  syncCommittee: sync_committee,
  intervalMs: interval,
}));

/** The section of a source whose data change about once a day. */
const Daily = section({
  enabled,
  interval: duration(SECOND)
    .prefault('1h')
    .describe('How often to check whether new data are due. The budget may stretch it.'),
}).transform(({ enabled, interval }) => ({ enabled, intervalMs: interval }));

const Network = section({
  enabled: z
    .union([z.literal('auto'), flag], { error: 'auto, true or false' })
    .prefault('auto')
    .describe('auto: on the chains for which validators.watch has validators. false: no requests and no series.'),
  interval: duration(SECOND)
    .prefault('1h')
    .describe('The polling interval. On a scarce budget it is a day, and the queues are not read.'),
}).transform(({ enabled, interval }) => ({ enabled, intervalMs: interval }));

const Slashings = section({
  enabled,
  interval: duration(SECOND)
    .prefault('65s')
    .describe(
      'The polling interval. The budget may stretch it. The default is slightly longer than the minute for which the service caches a response.',
    ),
  catch_up: duration(0)
    .prefault('7d')
    .describe('How far back finalized epochs are read after the exporter was stopped.'),
}).transform(({ enabled, interval, catch_up }) => ({ enabled, intervalMs: interval, catchUpMs: catch_up }));

const DEFAULT_DIR = './beaconchain-exporter-state';

const Redis = section({
  url: redisUrl.describe(
    'The URL of Redis or Valkey; rediss:// uses TLS. NODE_EXTRA_CA_CERTS names a file with more CA certificates to trust.',
  ),
  password: z
    .custom<string>((value) => typeof value === 'string', { error: 'expected a password in quotes' })
    .optional()
    .meta({ type: 'string' })
    .describe('The password, with any characters. It can also be part of the URL, percent-encoded.'),
  prefix: keyPrefix
    .prefault('beaconchain')
    .describe('The prefix of the key names in Redis. Use a different one for each API key.'),
});

const State = section({
  dir: text('the path of a directory').optional().meta({
    description: 'A directory, used by one process only. The default is in the working directory.',
    default: DEFAULT_DIR,
  }),
  redis: Redis.nullish().describe(
    'Use Redis instead of dir, for replicas with one API key. See docs/high-availability.md.',
  ),
})
  .meta({ not: { type: 'object', required: ['dir', 'redis'], properties: { redis: { type: 'object' } } } })
  .refine(({ dir, redis }) => dir === undefined || !redis, { error: 'expected only one of dir and redis' })
  .transform(({ dir = DEFAULT_DIR, redis }) => ({
    dir: resolve(dir),
    redis: redis ? { ...redis, section: 'state.redis', manual: 'docs/high-availability.md' } : undefined,
  }));

/** Not the path of another page. */
const FREE_PATH = '^/(?!-/|docs(/|$))[^?#]+$';

const telemetryPath = parsed('a path such as /metrics, other than /, /-/... and /docs/...', (text) => {
  const isSentAsWritten = URL.parse(text, 'http://host')?.pathname === text;
  return isSentAsWritten && new RegExp(FREE_PATH).test(text) ? text : undefined;
}).meta({ pattern: FREE_PATH });

const Web = section({
  listen_address: listenAddresses(':10032').describe(
    'The address to listen on, or a list of addresses. Without a host, all interfaces.',
  ),
  telemetry_path: telemetryPath.prefault('/metrics').describe('The path of the metrics.'),
  config_file: text('the path of a file or null')
    .nullable()
    .prefault(null)
    .describe('A file with TLS settings and passwords (docs/operations.md). null: plain HTTP without authentication.'),
  external_url: baseUrl
    .nullable()
    .prefault(null)
    .describe('The URL at which you reach the exporter, for links in alerts.'),
}).transform((web) => ({
  listenAddresses: web.listen_address,
  telemetryPath: web.telemetry_path,
  configFile: web.config_file,
  externalUrl: web.external_url,
}));

const Log = section({
  level: z
    .enum(LOG_LEVELS, { error: either(LOG_LEVELS) })
    .prefault('info')
    .describe('The lowest level that is logged.'),
  format: z
    .enum(['json', 'pretty'], { error: 'json, pretty or null' })
    .nullable()
    .prefault(null)
    .describe('null: pretty on a terminal, json otherwise.'),
});

/** The config file, in the order of config.example.yaml; durations come out in milliseconds. */
export const ConfigFile = optional(
  section({
    api: optional(Api).describe('The service and the API key.'),
    budget: optional(Budget).describe('How much of the limits the exporter may use. See docs/budget.md.'),
    chains: Chains.prefault({ mainnet: {} }).describe(
      'The chains to monitor; mainnet by default. If you set this, only the chains that you list are monitored. A chain without settings uses the defaults.',
    ),
    machines: optional(Machines).describe('The machines that your clients report to the service.'),
    groups: optional(Groups).describe(
      'Sites, operators or clients, by name. Their series get the label group. See docs/validators.md.',
    ),
    validators: optional(Validators).describe('Your validators. See docs/validators.md.'),
    daily_returns: optional(Daily).describe("The network's daily returns, polled once a day."),
    slashings: optional(Slashings).describe('Head, finality, blocks and slashings. See docs/validators.md.'),
    sync_committee: optional(Daily).describe(
      'The current sync committee period, polled once per period (about 27 hours).',
    ),
    network: optional(Network).describe(
      'The duties of the whole network beside those of your validators, and the queues. See docs/validators.md.',
    ),
    state: optional(State).describe('Where the exporter stores its state.'),
    web: optional(Web).describe('The HTTP server.'),
    log: optional(Log).describe('Logging, to standard output.'),
  }).transform(({ daily_returns: dailyReturns, sync_committee: syncCommittee, validators, groups, ...others }) => {
    // Fills in values that depend on other parts of the file. load.ts checks that they name only configured chains.
    const names = CHAIN_NAMES.filter((name) => others.chains[name] !== undefined);
    const [first = 'mainnet'] = names;
    const watch = watchPerChain(validators.watch, first);
    const byName = Object.entries(groups).map(([name, group]) => ({
      name,
      machines: group.machines,
      watch: watchPerChain(group.validators, first),
    }));
    return {
      ...others,
      /** At least one. */
      chains: names.map((name) => ({ name, v1BaseUrl: others.chains[name]?.v1_base_url ?? CHAINS[name].v1BaseUrl })),
      groups: byName,
      validators: { ...validators, watch: unionPerChain([watch, ...byName.map((group) => group.watch)]) },
      dailyReturns,
      syncCommittee,
    };
  }),
);

/** The configuration of the daemon. Does not contain the key, so it may be logged. */
export type Config = z.output<typeof ConfigFile>;

type WatchPerChain = Readonly<Record<Chain, Watch>>;

/** A list without chains is for the only chain. */
function watchPerChain(watch: z.output<typeof watchList>, only: Chain): WatchPerChain {
  const perChain = Array.isArray(watch) ? { [only]: watch } : watch;
  return { mainnet: watchOf(perChain.mainnet ?? []), hoodi: watchOf(perChain.hoodi ?? []) };
}

function unionPerChain(all: readonly WatchPerChain[]): WatchPerChain {
  return { mainnet: watchOf(all.flatMap((one) => one.mainnet)), hoodi: watchOf(all.flatMap((one) => one.hoodi)) };
}
