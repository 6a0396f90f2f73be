import type * as z from 'zod';
import type { Chain } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import {
  AggregateBody,
  accepted,
  DailyReturnsBody,
  MachineMetricsBody,
  MachineNamesBody,
  NetworkPerformanceBody,
  parseJson,
  QueuesBody,
  SyncCommitteeBody,
  ValidatorsBody,
} from './body.ts';
import { dailyReturns } from './daily-returns.ts';
import { networkPerformance, performance, queues, rewards } from './duties.ts';
import { machineMetrics, machineNames } from './machines.ts';
import { charge, limitsOf, NO_ACCESS } from './rate-limit.ts';
import { Refusal, v1Error, v2Error } from './refusal.ts';
import { attesterSlashings, epochSlots, proposerSlashings, slashingsOfSlot } from './v1.ts';
import { committee, syncCommittee, validators } from './validators.ts';
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

interface RequestTarget {
  readonly chain: Chain;
  readonly isV1: boolean;
  readonly path: string;
}

/** The answer of the service at `now`. Changes only the counters of the rate limits. */
export function answer(sandbox: Sandbox, request: SandboxRequest, now: UnixMs): SandboxAnswer {
  const target = parseTarget(request.path);
  if (!target) return textAnswer(404, '404 page not found');
  const isKeyValid = keyOf(target, request.headers) === sandbox.key;
  const common = {
    'content-type': 'application/json',
    'ratelimit-bucket': 'default',
    'ratelimit-validapikey': String(isKeyValid),
  };
  if (!isKeyValid) return { status: 401, headers: common, body: v2Error(401) };
  const limits = sandbox.revoked ? NO_ACCESS : limitsOf(sandbox.plan);
  const { refused, headers } = charge(sandbox.account, limits, now);
  const result = refused ? { status: 429, body: v2Error(429) } : serve(sandbox, target, request, now);
  // A 429 is refunded, after the headers showed it (api-facts 6.1).
  if (refused) sandbox.account.inMonth -= 1;
  return { ...result, headers: { ...common, ...headers } };
}

function parseTarget(requestTarget: string): RequestTarget | undefined {
  const [, hoodi, path, v1] = /^(\/hoodi)?(\/api\/(v1\/)?[^?]*)/.exec(requestTarget) ?? [];
  if (path === undefined) return undefined;
  return { chain: hoodi === undefined ? 'mainnet' : 'hoodi', isV1: v1 !== undefined, path };
}

/** v2 accepts a bearer token, v1 the header `apikey` (api-facts 7.1). The exporter does not use the query for keys. */
function keyOf({ isV1 }: RequestTarget, headers: SandboxRequest['headers']): string | undefined {
  if (isV1) return headers['apikey']?.toString();
  return /^Bearer (.+)$/i.exec(String(headers['authorization']))?.[1];
}

function serve(
  sandbox: Sandbox,
  { chain, isV1, path }: RequestTarget,
  request: SandboxRequest,
  now: UnixMs,
): { status: number; body: string } {
  try {
    return { status: 200, body: served({ ...request, path }, chain)(sandbox, now) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { status, message } = error;
    return { status, body: isV1 ? v1Error(message || 'not found') : v2Error(status, message) };
  }
}

/** The only form of an answer that has a name of its own. The service answers in it with or without the name. */
const FORM_OF_QUEUES = 'application/vnd.beaconcha.in.v2.1+json';

/** The body of the answer to a request that the service knows. @throws Refusal */
type Serve = (sandbox: Sandbox, now: UnixMs) => string;

function v2<S extends z.ZodType>(schema: S, serve: (sandbox: Sandbox, body: z.output<S>, now: UnixMs) => string) {
  return (body: unknown): Serve => {
    const asked = accepted(schema, body);
    return (sandbox, now) => serve(sandbox, asked, now);
  };
}

/** v2 by path: JSON in a POST. */
const V2: Readonly<Record<string, (body: unknown) => Serve>> = {
  '/api/v2/machine-metrics': v2(MachineMetricsBody, machineMetrics),
  '/api/v2/machine-metrics/machine-names': v2(MachineNamesBody, machineNames),
  '/api/v2/ethereum/benchmark-store': v2(DailyReturnsBody, dailyReturns),
  '/api/v2/ethereum/eth-store': v2(DailyReturnsBody, dailyReturns),
  '/api/v2/ethereum/sync-committee': v2(SyncCommitteeBody, syncCommittee),
  '/api/v2/ethereum/validators': v2(ValidatorsBody, validators),
  '/api/v2/ethereum/validators/performance-aggregate': v2(AggregateBody, performance),
  '/api/v2/ethereum/validators/rewards-aggregate': v2(AggregateBody, rewards),
  '/api/v2/ethereum/performance-aggregate': v2(NetworkPerformanceBody, networkPerformance),
  '/api/v2/ethereum/queues': v2(QueuesBody, queues),
};

type ServeV1 = (sandbox: Sandbox, chain: Chain, selector: string, now: UnixMs) => string;

/** v1 by path: GET at the host of a chain, with one selector (api-facts 4.1, 5.1, 5.2 and 8.1). */
const V1: readonly (readonly [path: RegExp, serve: ServeV1])[] = [
  [/^\/api\/v1\/epoch\/([^/]*)\/slots$/, epochSlots],
  [/^\/api\/v1\/slot\/([^/]*)\/attesterslashings$/, slashingsOfSlot(attesterSlashings)],
  [/^\/api\/v1\/slot\/([^/]*)\/proposerslashings$/, slashingsOfSlot(proposerSlashings)],
  [/^\/api\/v1\/sync_committee\/([^/]*)$/, committee],
];

/**
 * How the service answers a request, whose path has no query here. The chain is that of the host.
 * @throws Refusal for a request that no document and no recording shows
 */
export function served({ method, path, headers, body }: SandboxRequest, chain: Chain): Serve {
  if (!path.startsWith('/api/v1/')) {
    const endpoint = V2[path];
    if (!endpoint) throw new Refusal(404);
    if (method !== 'POST') throw new Refusal(405, `method not allowed: ${method}. all public API endpoints use POST.`);
    if (!/^application\/json\b/i.test(String(headers['content-type']))) throw new Refusal(400);
    const accept = String(headers['accept'] ?? '');
    const isKnownForm = path === '/api/v2/ethereum/queues' && accept === FORM_OF_QUEUES;
    if (accept.includes('/vnd.') && !isKnownForm) throw new Refusal(400);
    return endpoint(parseJson(body));
  }
  for (const [pattern, serve] of V1) {
    const selector = pattern.exec(path)?.[1];
    if (selector === undefined) continue;
    if (method !== 'GET') throw new Refusal(405, 'method not allowed');
    return (sandbox, now) => serve(sandbox, chain, selector, now);
  }
  throw new Refusal(404);
}
