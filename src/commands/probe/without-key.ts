import { isOfService } from '../../api/body.ts';
import { wireRequest } from '../../api/client.ts';
import { type ApiRequest, DAILY_RETURNS_PATHS, type Endpoint, type Query, requestTo } from '../../api/endpoints.ts';
import type { Transport } from '../../api/transport.ts';
import { apiOptionsOf } from '../../exporter/client.ts';
import { type Chain, epochAt, SLOTS_PER_EPOCH } from '../../facts/chain.ts';
import type { LoadedConfig } from '../../sources/registry.ts';
import { columns } from '../../toolkit/flags/columns.ts';
import type { Clock } from '../../toolkit/lib/clock.ts';
import { MS_PER_HOUR } from '../../toolkit/lib/duration.ts';
import { messageOf } from '../../toolkit/lib/error-code.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { hostsOf } from './probe.ts';
import { type Exchange, recorded } from './public-report.ts';

/** Such an epoch is long finalized. */
const AGE_EPOCHS = 10;
/** Not a limit: politeness, because without a key no quota is spent. */
const PACE_MS = 1_000;
const INDEX = 1;
/** The recorded one (api-facts 11.4). */
const BLOCK = 22_199_466;

/** Every form of a request, with arguments that belong to no user. */
type Forms = { readonly [E in Endpoint]: (chain: Chain, now: UnixMs) => readonly ApiRequest[] };
const FORMS: Forms = {
  machine_metrics: (_, now) => {
    const end = Math.floor(now / 1000);
    return [requestTo('machine_metrics', { range: { start: end - MS_PER_HOUR / 1000, end } })];
  },
  machine_names: () => [requestTo('machine_names', {})],
  daily_returns: (chain) =>
    DAILY_RETURNS_PATHS.map((path) => requestTo('daily_returns', { chain, path, range: { window: '24h' } })),
  sync_committee: (chain) => [requestTo('sync_committee', { chain })],
  validators: (chain) => [requestTo('validators', { chain, identifiers: [INDEX] })],
  validators_performance: (chain) => [requestTo('validators_performance', { chain, identifiers: [INDEX] })],
  validators_rewards: (chain) => [requestTo('validators_rewards', { chain, identifiers: [INDEX] })],
  validators_performance_list: (chain, now) => [requestTo('validators_performance_list', listOf(chain, now))],
  validators_rewards_list: (chain, now) => [requestTo('validators_rewards_list', listOf(chain, now))],
  block_rewards: (chain) => [requestTo('block_rewards', { chain, number: BLOCK })],
  network_performance: (chain) => [requestTo('network_performance', { chain })],
  queues: (chain) => [requestTo('queues', { chain })],
  epoch_slots: (chain) => [requestTo('epoch_slots', { chain, epoch: 'latest', priority: 'background' })],
  attester_slashings: (chain, now) => [requestTo('attester_slashings', { chain, slot: slotOf(chain, now) })],
  proposer_slashings: (chain, now) => [requestTo('proposer_slashings', { chain, slot: slotOf(chain, now) })],
  sync_committee_members: (chain) => [requestTo('sync_committee_members', { chain, period: 'latest' })],
};

function listOf(chain: Chain, now: UnixMs): Query<'validators_rewards_list'> {
  return { chain, identifiers: [INDEX], epoch: epochAt(chain, now) - AGE_EPOCHS, priority: 'background' };
}

function slotOf(chain: Chain, now: UnixMs): number {
  return (epochAt(chain, now) - AGE_EPOCHS) * SLOTS_PER_EPOCH;
}

export function costOfForms({ config }: Pick<LoadedConfig, 'config'>, now: UnixMs): string {
  const hosts = hostsOf({ ...config, chains: config.chains.slice(0, 1) });
  return `${formsOf({ config }, now).length} requests without a key, one a second, to ${hosts}`;
}

/** Each form once, of the first configured chain. */
function formsOf({ config }: Pick<LoadedConfig, 'config'>, now: UnixMs): ApiRequest[] {
  const { name: chain = 'mainnet' } = config.chains[0] ?? {};
  return Object.values(FORMS).flatMap((form) => form(chain, now));
}

/** What a status says about a form: nothing if the service checked the key before the path. */
type Meaning = 'accepted' | 'refused' | 'no such path' | 'says nothing' | 'no answer';

export interface Tried extends Exchange {
  readonly meaning: Meaning;
}

/** Sends each form once without a key, outside of the budget. */
export async function tryForms(
  settings: Pick<LoadedConfig, 'config'>,
  send: Transport,
  clock: Clock,
): Promise<Tried[]> {
  const options = apiOptionsOf({ config: settings.config });
  const exchanges: Tried[] = [];
  for (const request of formsOf(settings, clock.now())) {
    if (exchanges.length > 0) await clock.sleep(PACE_MS, new AbortController().signal);
    let exchange: Exchange | undefined;
    const keep = recorded(send, (one) => {
      exchange = one;
    });
    const answer = await keep(wireRequest(options, request), new AbortController().signal).catch(() => undefined);
    const isOwn = answer !== undefined && (await isOfService(request.endpoint, answer));
    if (exchange)
      exchanges.push({ ...exchange, meaning: answer ? meaningOf(request, answer.status, isOwn) : 'no answer' });
  }
  return exchanges;
}

/** Pure. v1 answers 401 to anything. */
function meaningOf({ body }: ApiRequest, status: number, isOwn: boolean): Meaning {
  if (!isOwn) return 'says nothing';
  if (status === 200) return 'accepted';
  if (!body) return 'says nothing';
  if (status === 401) return 'accepted';
  if (status === 400) return 'refused';
  return [404, 405, 410].includes(status) ? 'no such path' : 'says nothing';
}

const NOTE = `Without a key, 401 means that the service accepts path and form, 400 that it refuses the form, and 404, 405 or 410 that
it has no such path. This is inferred from two responses of October 2026, and is no proof. It says nothing about responses with a
key. v1 responds to anything with 401. One of the two paths of the daily returns is enough.`;

export function formsReport(tried: readonly Tried[]): string {
  const rows = tried.map(({ request: { endpoint, method, path }, answer, body, meaning }) => [
    endpoint,
    answer ? String(answer.status) : messageOf(body).replace(`${endpoint}: `, ''),
    meaning,
    `${method} ${path}`,
  ]);
  return ['', ...columns([['endpoint', 'status', 'form', 'request'], ...rows]), '', NOTE, ''].join('\n');
}

export function formsVerdict(tried: readonly Tried[]): 'understood' | 'partly' | 'refused' {
  if (tried.every(({ meaning }) => meaning === 'no answer')) return 'refused';
  return tried.some(({ meaning }) => meaning === 'refused') ? 'partly' : 'understood';
}
