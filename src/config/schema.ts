import { z } from 'zod';
import { CHAIN_NAMES } from '../lib/chain.ts';
import {
  autoOrDuration,
  autoOrPath,
  baseUrl,
  duration,
  either,
  indexRange,
  keyPrefix,
  listenAddress,
  optional,
  perChain,
  redisUrl,
  section,
  telemetryPath,
} from './fields.ts';
import { ApiKey, ApiKeyFile } from './key.ts';

const SECOND = 1000;

const flag = z.boolean({ error: 'true or false' });
const count = z.int({ error: 'a whole number' }).min(1, { error: 'a whole number of at least 1' });
const positive = z.number({ error: 'a number' }).gt(0, { error: 'a number above 0' });
/** A share against the other sources: only the ratios count, and their sum must be a number. */
const LARGEST_WEIGHT = 1_000_000;
const weight = positive.max(LARGEST_WEIGHT, { error: `a number above 0 and up to ${LARGEST_WEIGHT}` });
const chain = z.enum(CHAIN_NAMES, { error: either(CHAIN_NAMES) });
const names = z.array(z.string({ error: 'a name (in quotes if it looks like a number)' }).min(1, { error: 'a name' }), {
  error: 'a list of names',
});

const Api = section({
  base_url: baseUrl().prefault('https://beaconcha.in'),
  key: ApiKey.optional(),
  key_file: ApiKeyFile.optional(),
  // Node fires timers of more than 24 days at once; nobody waits an hour for an answer.
  timeout: duration(1, 3600 * SECOND).prefault('10s'),
  daily_returns_path: autoOrPath().prefault('auto'),
}).transform((api) => ({
  baseUrl: api.base_url,
  timeoutMs: api.timeout,
  dailyReturnsPath: api.daily_returns_path,
}));

/** Limits of a plan without a name; what is left out is learned from the service alone. */
const Rates = section({ per_second: positive.optional(), per_month: count.optional() })
  .refine((rates) => Object.values(rates).some((rate) => rate !== undefined), {
    error: 'expected per_second, per_month or both',
  })
  .transform((rates) => ({ perSecond: rates.per_second, perMonth: rates.per_month }));

const PLANS = ['auto', 'free_trial', 'hobbyist', 'business', 'scale'] as const;

const Budget = section({
  plan: z
    .union([z.enum(PLANS), Rates], { error: either([...PLANS, '{per_second: 1, per_month: 1000}']) })
    .prefault('auto'),
  utilization: z
    .number({ error: 'a number' })
    .gt(0, { error: 'a number above 0 and up to 1' })
    .max(1, { error: 'a number above 0 and up to 1' })
    .prefault(0.9),
});

/** A chain with nothing under it has the defaults; one that is left out is not configured. */
const Chains = perChain(
  section({ v1_base_url: baseUrl().optional() }).nullish(),
  'a mapping of chains such as {mainnet: {}}',
).refine((chains) => Object.values(chains).some((settings) => settings !== undefined), {
  error: `expected at least one chain: ${either(CHAIN_NAMES)}`,
});

const Machines = section({
  enabled: flag.prefault(true),
  interval: duration(SECOND).prefault('1m'),
  weight: weight.prefault(2),
  stale_after: autoOrDuration(SECOND).prefault('auto'),
  forget_after: duration(SECOND).prefault('31d'),
  expected: names.prefault([]),
  include: names.prefault([]),
  exclude: names.prefault([]),
  max: count.prefault(10_000),
  chain: chain.optional(),
  chain_rules: z
    .array(section({ match: z.string({ error: 'a pattern such as "hoodi-*"' }), chain }), {
      error: 'a list such as [{match: "hoodi-*", chain: hoodi}]',
    })
    .prefault([]),
  timestamps: flag.prefault(false),
}).transform((machines) => ({
  enabled: machines.enabled,
  intervalMs: machines.interval,
  weight: machines.weight,
  staleAfterMs: machines.stale_after,
  forgetAfterMs: machines.forget_after,
  expected: machines.expected,
  include: machines.include,
  exclude: machines.exclude,
  max: machines.max,
  chain: machines.chain,
  chainRules: machines.chain_rules,
  timestamps: machines.timestamps,
}));

/** Data that changes about once a day. */
const DailyTask = section({
  enabled: flag.prefault(true),
  interval: duration(SECOND).prefault('1h'),
  weight: weight.prefault(1),
}).transform((task) => ({ enabled: task.enabled, intervalMs: task.interval, weight: task.weight }));

const ranges = z.array(indexRange(), { error: 'a list of validator indices and ranges' });

const Slashings = section({
  enabled: flag.prefault(true),
  interval: duration(SECOND).prefault('1m'),
  weight: weight.prefault(3),
  catch_up: duration(0).prefault('7d'),
  watch: z
    .union([ranges, perChain(ranges.optional())], {
      error: 'a list such as [12345, "20000-20099"], or one per chain such as {mainnet: [12345]}',
    })
    .prefault([]),
}).transform((slashings) => ({
  enabled: slashings.enabled,
  intervalMs: slashings.interval,
  weight: slashings.weight,
  catchUpMs: slashings.catch_up,
  watch: slashings.watch,
}));

const file = z.string({ error: 'the path of a file' }).min(1, { error: 'the path of a file' });

const Tls = section({
  ca_file: file.optional(),
  cert_file: file.optional(),
  key_file: file.optional(),
  server_name: z.string({ error: 'a host name' }).min(1, { error: 'a host name' }).optional(),
})
  .refine((tls) => (tls.cert_file === undefined) === (tls.key_file === undefined), {
    error: 'expected cert_file and key_file together',
  })
  .transform((tls) => ({
    caFile: tls.ca_file,
    certFile: tls.cert_file,
    keyFile: tls.key_file,
    serverName: tls.server_name,
  }));

const Redis = section({
  url: redisUrl(),
  password: z.string({ error: 'a password' }).optional(),
  prefix: keyPrefix().prefault('beaconchain'),
  tls: Tls.optional(),
}).refine(({ url, tls }) => tls === undefined || url.startsWith('rediss:'), {
  error: 'tls is for a url that begins with rediss://',
});

const State = section({
  dir: z.string({ error: 'the path of a directory' }).min(1, { error: 'the path of a directory' }).optional(),
  redis: Redis.nullish(),
})
  .refine(({ dir, redis }) => dir === undefined || !redis, { error: 'dir and redis are both there, expected only one' })
  .transform(({ dir = './beaconchain-exporter-state', redis }) => ({ dir, redis: redis ?? undefined }));

const Web = section({
  listen_address: listenAddress().prefault(':10032'),
  telemetry_path: telemetryPath().prefault('/metrics'),
  /** null: plain HTTP without authentication. */
  config_file: z
    .string({ error: 'the path of a file or null' })
    .min(1, { error: 'the path of a file or null' })
    .nullable()
    .prefault(null),
}).transform((web) => ({
  listenAddress: web.listen_address,
  telemetryPath: web.telemetry_path,
  configFile: web.config_file,
}));

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

const Log = section({
  level: z.enum(LEVELS, { error: either(LEVELS) }).prefault('info'),
  /** null: pretty on a terminal, json otherwise. */
  format: z.enum(['json', 'pretty'], { error: 'json, pretty or null' }).nullable().prefault(null),
});

/** The config file, in the order of config.example.yaml; durations come out in milliseconds. */
export const ConfigFile = optional(
  section({
    api: optional(Api),
    budget: optional(Budget),
    chains: Chains.prefault({ mainnet: {} }),
    machines: optional(Machines),
    daily_returns: optional(DailyTask),
    slashings: optional(Slashings),
    sync_committee: optional(DailyTask),
    state: optional(State),
    web: optional(Web),
    log: optional(Log),
  }),
);
export type ConfigFile = z.output<typeof ConfigFile>;
