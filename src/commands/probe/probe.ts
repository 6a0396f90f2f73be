import * as z from 'zod';
import type { Api, ApiRequest } from '../../api/client.ts';
import { type Endpoint, RequestFailed } from '../../api/errors.ts';
import { emptyLedger, type Ledger } from '../../budget/ledger.ts';
import { BudgetClosed } from '../../budget/permit.ts';
import { openClient } from '../../exporter/client.ts';
import type { Settings } from '../../exporter/settings.ts';
import { endpointsOf } from '../../exporter/sources.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Proxies } from '../../lib/proxies.ts';
import type { UnixMs } from '../../lib/time.ts';
import { isUnknownToService } from '../../sources/alternatives.ts';
import { type Finding, findingOf } from './finding.ts';
import { Recorder } from './recorder.ts';
import {
  attesterSlashings,
  dailyReturns,
  epochSlots,
  machineMetrics,
  proposerSlashings,
  type Question,
  slotToAsk,
  syncCommittee,
  syncCommitteeMembers,
} from './requests.ts';

export interface Probe {
  readonly ledger: Ledger;
  readonly findings: readonly Finding[];
}

/** The endpoints that `probe` asks: those of the specification whose source is enabled, and the optional ones that are wanted. */
export function askedEndpoints({ config }: Settings): Endpoint[] {
  const { machines, dailyReturns, slashings, syncCommittee } = config;
  const bySource: Readonly<Partial<Record<Endpoint, boolean>>> = {
    machine_metrics: machines.enabled,
    daily_returns: dailyReturns.enabled,
    sync_committee: syncCommittee.enabled,
    epoch_slots: slashings.enabled,
    attester_slashings: slashings.enabled,
  };
  return endpointsOf(config).filter((endpoint) => bySource[endpoint] ?? true);
}

/**
 * How many requests `probe` sends. If the service does not know a path or a selector, another request uses the
 * alternative.
 */
export function requestsOf(settings: Settings): { readonly usual: number; readonly further: number } {
  const endpoints = askedEndpoints(settings);
  const perChain = endpoints.filter((endpoint) => endpoint !== 'machine_metrics').length;
  const { length: chains } = settings.config.chains;
  return { usual: perChain * chains + (endpoints.length - perChain), further: furtherPerChain(endpoints) * chains };
}

/** With these, no chain takes more than seven requests, unless optional endpoints are wanted: those may take an eighth. */
function furtherPerChain(endpoints: readonly Endpoint[]): number {
  const others = endpoints.filter((endpoint) => WITH_ANOTHER_WAY.has(endpoint)).length;
  return Math.min(others, Math.max(1, 7 - endpoints.length));
}

const WITH_ANOTHER_WAY: ReadonlySet<Endpoint> = new Set(['daily_returns', 'sync_committee', 'epoch_slots']);

/**
 * Sends one request to every enabled endpoint on each chain. After a refusal of the key, no further requests are sent.
 */
export async function probe(settings: Settings, proxies: Proxies | undefined, now: UnixMs): Promise<Probe> {
  const recorder = new Recorder(systemClock);
  const client = openClient({
    settings: () => settings,
    proxies,
    clock: systemClock,
    ledger: emptyLedger(),
    transport: (send) => recorder.record(send),
  });
  const endpoints = askedEndpoints(settings);
  const findings: Finding[] = [];
  let further = 0;

  async function ask(question: Question): Promise<unknown> {
    const { request, other } = question;
    if (!endpoints.includes(request.endpoint)) return undefined;
    const from = recorder.exchanges.length;
    let failure = await failureOf(client.api, request);
    if (other && further > 0 && isUnknownToService(failure)) {
      further -= 1;
      failure = (await failureOf(client.api, { ...request, ...other })) && failure;
    }
    const exchanges = recorder.exchanges.slice(from);
    findings.push(findingOf(question, exchanges, failure));
    const body = exchanges.at(-1)?.body;
    return failure || !body || !('json' in body) ? undefined : body.json;
  }

  try {
    await ask(machineMetrics(now));
    for (const { name: chain } of settings.config.chains) {
      further = furtherPerChain(endpoints);
      await ask(dailyReturns(chain));
      await ask(syncCommittee(chain, now));
      await ask(syncCommitteeMembers(chain));
      const epoch = await ask(epochSlots(chain, now));
      await ask(attesterSlashings(chain, slotToAsk(epoch, 'attesterslashingscount', chain, now)));
      await ask(proposerSlashings(chain, slotToAsk(epoch, 'proposerslashingscount', chain, now)));
    }
  } finally {
    await client.close();
  }
  return { ledger: client.limiter.ledger, findings };
}

/** Sends the request. Returns why there is no answer; undefined: there is one. */
async function failureOf(api: Api, request: ApiRequest): Promise<Error | undefined> {
  try {
    await api.request(request, z.unknown(), new AbortController().signal);
    return undefined;
  } catch (error) {
    if (error instanceof RequestFailed || error instanceof BudgetClosed) return error;
    throw error;
  }
}
