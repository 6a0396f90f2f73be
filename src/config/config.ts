import { resolve } from 'node:path';
import * as z from 'zod';
import { CHAIN_NAMES, CHAINS } from '../facts/chain.ts';
import { type ConfigSection, perChain } from '../facts/fields.ts';
import { PLANS } from '../facts/plans.ts';
import { LOG_LEVELS } from '../toolkit/lib/log.ts';
import { invisibleIn } from '../toolkit/lib/text.ts';
import {
  baseUrl,
  count,
  duration,
  either,
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
    .describe('The base URL of the service, for tests or your own proxy.'),
  key: ApiKey.optional().describe('Your API key. BEACONCHAIN_API_KEY and BEACONCHAIN_API_KEY_FILE override it.'),
  key_file: ApiKeyFile.optional().describe('A file that contains the key, instead of `key`. A reload reads it again.'),
  // Node fires timers of more than 24 days immediately. More than an hour is not a useful timeout.
  timeout: duration(1, 3600 * SECOND)
    .prefault('10s')
    .describe('The timeout of a request, at most 1h.'),
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
    .describe('The limits until the service reports them. auto: learn them from the responses.'),
  utilization: z
    .number({ error: 'a number' })
    .gt(0, { error: SHARE })
    .max(1, { error: SHARE })
    .prefault(0.9)
    .describe('The share of each limit that the exporter may use. The rest is for others on the account.'),
});

/** An empty chain has the defaults; an absent one is not configured. */
const Chains = perChain(
  section({
    v1_base_url: baseUrl
      .optional()
      .describe("The base URL of the chain's API v1. Default https://beaconcha.in or https://hoodi.beaconcha.in."),
  }).nullish(),
  'a mapping of chains such as {mainnet: {}}',
)
  .meta({ minProperties: 1 })
  .refine((chains) => Object.values(chains).some((settings) => settings !== undefined), {
    error: `expected at least one chain: ${either(CHAIN_NAMES)}`,
  })
  .transform((chains) =>
    CHAIN_NAMES.filter((name) => chains[name] !== undefined).map((name) => ({
      name,
      v1BaseUrl: chains[name]?.v1_base_url ?? CHAINS[name].v1BaseUrl,
    })),
  );

const DEFAULT_DIR = './beaconchain-exporter-state';

const Redis = section({
  url: redisUrl.describe(
    'The URL of Redis or Valkey; rediss:// uses TLS. NODE_EXTRA_CA_CERTS names a file with more CA certificates.',
  ),
  password: z
    .custom<string>((value) => typeof value === 'string' && invisibleIn(value) === undefined, {
      error: ({ input }) =>
        typeof input === 'string'
          ? 'expected a password without line breaks, as `printf %s` writes it into the variable or Secret'
          : 'expected a password in quotes',
    })
    .optional()
    .meta({ type: 'string' })
    .describe('The password. It replaces one in the URL.'),
  prefix: keyPrefix.prefault('beaconchain').describe('The prefix of the key names, different for each API key.'),
});

const State = section({
  dir: text('the path of a directory').optional().meta({
    description: 'A directory, used by one process only.',
    default: DEFAULT_DIR,
  }),
  redis: Redis.nullish().describe('Redis instead of dir, for replicas: docs/high-availability.md.'),
})
  .meta({ not: { type: 'object', required: ['dir', 'redis'], properties: { redis: { type: 'object' } } } })
  .refine(({ dir, redis }) => dir === undefined || !redis, { error: 'expected only one of dir and redis' })
  .transform(({ dir = DEFAULT_DIR, redis }) => ({
    dir: resolve(dir),
    redis: redis ? { ...redis, section: 'state.redis', manual: 'docs/high-availability.md' } : undefined,
  }));

const FREE_PATH = '^/(?!-/|docs(/|$))[^?#]+$';

const telemetryPath = parsed('a path such as /metrics, other than /, /-/... and /docs/...', (text) => {
  const isSentAsWritten = URL.parse(text, 'http://host')?.pathname === text;
  return isSentAsWritten && new RegExp(FREE_PATH).test(text) ? text : undefined;
}).meta({ pattern: FREE_PATH });

const Web = section({
  listen_address: listenAddresses(':10032').describe('The addresses to listen on. Without a host, all interfaces.'),
  telemetry_path: telemetryPath.prefault('/metrics').describe('The path of the metrics.'),
  config_file: text('the path of a file or null')
    .nullable()
    .prefault(null)
    .describe('A file with TLS settings and passwords: docs/operations.md.'),
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

/** The file, in the order of config.example.yaml. @param sections Those of the sources */
export function fileOf<T extends Readonly<Record<string, ConfigSection>>>(sections: T) {
  const schemas = Object.entries(sections).map(([name, { schema }]) => [name, schema]);
  return section({
    api: optional(Api).describe('The service and the API key.'),
    budget: optional(Budget).describe('How much of the limits the exporter may use: docs/budget.md.'),
    chains: Chains.prefault({ mainnet: {} }).describe('The chains to monitor, by default only mainnet.'),
    ...(Object.fromEntries(schemas) as { [K in keyof T]: T[K]['schema'] }),
    state: optional(State).describe('Where the exporter stores its state.'),
    web: optional(Web).describe('The HTTP server.'),
    log: optional(Log).describe('Logging, to standard output.'),
  });
}

/** The sections of no source. */
export type CommonConfig = z.output<ReturnType<typeof fileOf<Record<never, never>>>>;
