import type * as z from 'zod';
import type { Chain } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { charge, isV1 } from './account.ts';
import { blockRewards } from './blocks.ts';
import {
  AggregateBody,
  accepted,
  BlockRewardsBody,
  DailyReturnsBody,
  EpochBody,
  MachineMetricsBody,
  MachineNamesBody,
  NetworkPerformanceBody,
  QueuesBody,
  SyncCommitteeBody,
  ValidatorsBody,
} from './body.ts';
import { dailyReturns } from './daily-returns.ts';
import { epochPerformance, epochRewards, networkPerformance, performance, rewards } from './duties.ts';
import { machineMetrics, machineNames } from './machines.ts';
import { queues } from './queues.ts';
import { errorBody, Refusal } from './refusal.ts';
import { committee, syncCommittee } from './sync-committee.ts';
import { epochSlots, slashingsOfSlot } from './v1.ts';
import { validators } from './validators.ts';
import type { Sandbox } from './world.ts';

export interface SandboxRequest {
  readonly method: string;
  /** With the query. `/hoodi` stands for the host of hoodi. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

export interface SandboxAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function textAnswer(status: number, text: string): SandboxAnswer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${text}\n` };
}

/** The answer of the service at `now`. Changes only the counters of the account. */
export function answer(sandbox: Sandbox, request: SandboxRequest, now: UnixMs): SandboxAnswer {
  const [, hoodi, path] = /^(\/hoodi)?(\/api\/[^?]*)/.exec(request.path) ?? [];
  if (path === undefined) return textAnswer(404, '404 page not found');
  const known = { ...request, path };
  const { isKeyValid, refusedBy, headers } = charge(sandbox.account, known, now);
  const status = refusedBy ? 429 : 401;
  const isRefused = refusedBy !== undefined || !isKeyValid;
  const result = isRefused
    ? { status, body: errorBody(false, status) }
    : contentOf(sandbox, known, hoodi ? 'hoodi' : 'mainnet', now);
  return { ...result, headers: { ...JSON_TYPE, ...headers } };
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** The response to a caller whom the service does not refuse. The path has no query. */
export function contentOf(sandbox: Sandbox, request: SandboxRequest, chain: Chain, now: UnixMs) {
  try {
    return { status: 200, body: served(request, chain)(sandbox, now) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { status, message } = error;
    return { status, body: errorBody(isV1(request.path), status, message) };
  }
}

/** The body of the answer to a request that the service knows. @throws Refusal */
type Serve = (sandbox: Sandbox, now: UnixMs) => string;

/** @returns Takes the JSON of a body. @throws Refusal */
function v2<S extends z.ZodType>(schema: S, serve: (sandbox: Sandbox, body: z.output<S>, now: UnixMs) => string) {
  return (body: string): Serve => {
    const asked = accepted(schema, body);
    return (sandbox, now) => serve(sandbox, asked, now);
  };
}

const QUEUES = '/api/v2/ethereum/queues';
/** The only named form of an answer. The service uses it with or without the name in the request. */
const FORM_OF_QUEUES = 'application/vnd.beaconcha.in.v2.1+json';

/** v2 by path: JSON in a POST. */
const V2: Readonly<Record<string, (body: string) => Serve>> = {
  '/api/v2/machine-metrics': v2(MachineMetricsBody, machineMetrics),
  '/api/v2/machine-metrics/machine-names': v2(MachineNamesBody, machineNames),
  '/api/v2/ethereum/benchmark-store': v2(DailyReturnsBody, dailyReturns),
  '/api/v2/ethereum/eth-store': v2(DailyReturnsBody, dailyReturns),
  '/api/v2/ethereum/sync-committee': v2(SyncCommitteeBody, syncCommittee),
  '/api/v2/ethereum/block/rewards': v2(BlockRewardsBody, blockRewards),
  '/api/v2/ethereum/validators': v2(ValidatorsBody, validators),
  '/api/v2/ethereum/validators/performance-aggregate': v2(AggregateBody, performance),
  '/api/v2/ethereum/validators/rewards-aggregate': v2(AggregateBody, rewards),
  '/api/v2/ethereum/validators/performance-list': v2(EpochBody, epochPerformance),
  '/api/v2/ethereum/validators/rewards-list': v2(EpochBody, epochRewards),
  '/api/v2/ethereum/performance-aggregate': v2(NetworkPerformanceBody, networkPerformance),
  [QUEUES]: v2(QueuesBody, queues),
};

type ServeV1 = (sandbox: Sandbox, chain: Chain, selector: string, now: UnixMs) => string;

/** v1 by path: GET at the host of a chain, with one selector (api-facts 4.1, 5.1, 5.2 and 8.1). */
const V1: Readonly<Record<string, ServeV1>> = {
  'epoch/{}/slots': epochSlots,
  'slot/{}/attesterslashings': slashingsOfSlot('attester'),
  'slot/{}/proposerslashings': slashingsOfSlot('proposer'),
  'sync_committee/{}': committee,
};

/** @param chain That of the host @throws Refusal for a request that no document and no recording shows */
export function served(request: SandboxRequest, chain: Chain): Serve {
  const { method, path, headers, body } = request;
  if (isV1(path)) {
    const [, kind, selector = '', list = ''] = /^\/api\/v1\/(\w+)\/([^/]*)(\/\w+)?$/.exec(path) ?? [];
    const serve = V1[`${kind}/{}${list}`];
    if (!serve) throw new Refusal(404);
    if (method !== 'GET') throw new Refusal(405, 'method not allowed');
    return (sandbox, now) => serve(sandbox, chain, selector, now);
  }
  const endpoint = V2[path];
  if (!endpoint) throw new Refusal(404);
  if (method !== 'POST') throw new Refusal(405, `method not allowed: ${method}. all public API endpoints use POST.`);
  if (!/^application\/json\b/i.test(String(headers['content-type']))) throw new Refusal(400);
  const accept = String(headers['accept']);
  if (accept.includes('/vnd.') && !(path === QUEUES && accept === FORM_OF_QUEUES)) throw new Refusal(400);
  return endpoint(body);
}
