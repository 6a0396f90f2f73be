import type * as z from 'zod';
import type { Chain } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import {
  accepted,
  DailyReturnsBody,
  MachineMetricsBody,
  MachineNamesBody,
  PerformanceBody,
  parseBody,
  SyncCommitteeBody,
  ValidatorsBody,
} from './body.ts';
import { dailyReturns } from './daily-returns.ts';
import { machineMetrics, machineNames } from './machine-metrics.ts';
import { Refusal } from './refusal.ts';
import { slotProposerSlashings, slotSlashings } from './slashings-data.ts';
import { committee, syncCommittee } from './sync-committee.ts';
import { epochSlots, slashingsOfSlot } from './v1.ts';
import { performance, validators } from './validators.ts';
import type { Sandbox } from './world.ts';

/** A request for the service, without its key. */
export interface ServiceRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly contentType?: string | undefined;
  readonly body: string;
}

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
  '/api/v2/ethereum/validators/performance-aggregate': v2(PerformanceBody, performance),
};

type ServeV1 = (sandbox: Sandbox, chain: Chain, selector: string, now: UnixMs) => string;

/** v1 by path: GET at the host of a chain, with one selector (api-facts 4.1, 5.1, 5.2 and 8.1). */
const V1: readonly (readonly [path: RegExp, serve: ServeV1])[] = [
  [/^\/api\/v1\/epoch\/([^/]*)\/slots$/, epochSlots],
  [/^\/api\/v1\/slot\/([^/]*)\/attesterslashings$/, slashingsOfSlot(slotSlashings)],
  [/^\/api\/v1\/slot\/([^/]*)\/proposerslashings$/, slashingsOfSlot(slotProposerSlashings)],
  [/^\/api\/v1\/sync_committee\/([^/]*)$/, committee],
];

/**
 * How the service answers a request. The chain is that of the host.
 * @throws Refusal for a request that no document and no recording shows
 */
export function served({ method, path, contentType = '', body }: ServiceRequest, chain: Chain): Serve {
  if (!path.startsWith('/api/v1/')) {
    const endpoint = V2[path];
    if (!endpoint) throw new Refusal(404);
    if (method !== 'POST') throw new Refusal(405, `method not allowed: ${method}. all public API endpoints use POST.`);
    if (!/^application\/json\b/i.test(contentType)) throw new Refusal(400);
    return endpoint(parseBody(body));
  }
  for (const [pattern, serve] of V1) {
    const selector = pattern.exec(path)?.[1];
    if (selector === undefined) continue;
    if (method !== 'GET') throw new Refusal(405, 'method not allowed');
    return (sandbox, now) => serve(sandbox, chain, selector, now);
  }
  throw new Refusal(404);
}
