import type { Chain } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { served } from './endpoints.ts';
import { limitsOf } from './plan.ts';
import { charge, revokedHeaders } from './rate-limit.ts';
import { Refusal, v1Error, v2Error } from './refusal.ts';
import type { Sandbox } from './world.ts';

export interface SandboxRequest {
  readonly method: string;
  /** With the query. `/hoodi` stands for the host of hoodi. */
  readonly path: string;
  /** With names in lower case. */
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

const HOODI_HOST = '/hoodi';

interface RequestTarget {
  readonly chain: Chain;
  readonly version: 'v1' | 'v2';
  readonly path: string;
}

/** The answer of the service at `now`. Changes only the counters of the rate limits. */
export function answer(sandbox: Sandbox, request: SandboxRequest, now: UnixMs): SandboxAnswer {
  const target = parseTarget(request.path);
  if (!target) return { status: 404, headers: { 'content-type': 'text/plain' }, body: '404 page not found' };
  const isKeyValid = keyOf(target, request.headers) === sandbox.key;
  const common = {
    'content-type': 'application/json',
    'ratelimit-bucket': 'default',
    'ratelimit-validapikey': String(isKeyValid),
  };
  if (!isKeyValid) return { status: 401, headers: common, body: v2Error(401) };
  if (sandbox.revoked) {
    return { status: 429, headers: { ...common, ...revokedHeaders(now) }, body: v2Error(429) };
  }
  // The headers show the charge before it is refunded.
  const { refused, headers, refund } = charge(sandbox.account, limitsOf(sandbox.plan), now);
  const result = refused ? { status: 429, body: v2Error(429) } : serve(sandbox, target, request, now);
  if (result.status === 429 || result.status >= 500) refund();
  return { ...result, headers: { ...common, ...headers } };
}

/** Only paths below /api exist. */
function parseTarget(requestTarget: string): RequestTarget | undefined {
  const [full = ''] = requestTarget.split('?', 1);
  const isHoodi = full.startsWith(`${HOODI_HOST}/`);
  const path = isHoodi ? full.slice(HOODI_HOST.length) : full;
  if (!path.startsWith('/api/')) return undefined;
  const version = path.startsWith('/api/v1/') ? 'v1' : 'v2';
  return { chain: isHoodi ? 'hoodi' : 'mainnet', version, path };
}

/** v2 accepts a bearer token, v1 the header `apikey` (api-facts 7.1). The exporter does not use the query for keys. */
function keyOf({ version }: RequestTarget, headers: SandboxRequest['headers']): string | undefined {
  if (version === 'v1') return single(headers['apikey']);
  return /^Bearer (.+)$/i.exec(single(headers['authorization']) ?? '')?.[1];
}

function single(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

function serve(
  sandbox: Sandbox,
  { chain, version, path }: RequestTarget,
  { method, headers, body }: SandboxRequest,
  now: UnixMs,
): { status: number; body: string } {
  const isV1 = version === 'v1';
  try {
    if (sandbox.outage) throw new Refusal(500, isV1 ? 'internal server error' : '');
    const asked = { method, path, contentType: single(headers['content-type']), body };
    return { status: 200, body: served(asked, chain)(sandbox, now) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { status, message } = error;
    return { status, body: isV1 ? v1Error(message || 'not found') : v2Error(status, message) };
  }
}
