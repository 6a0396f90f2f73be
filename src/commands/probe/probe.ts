import { z } from 'zod';
import type { Api } from '../../api/client.ts';
import { type Endpoint, RequestFailed } from '../../api/errors.ts';
import { emptyLedger, type Ledger } from '../../budget/ledger.ts';
import { BudgetClosed } from '../../budget/permit.ts';
import { openClient } from '../../exporter/client.ts';
import { endpointsOf } from '../../exporter/counters.ts';
import type { Settings } from '../../exporter/settings.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Proxies } from '../../lib/proxies.ts';
import type { UnixMs } from '../../lib/time.ts';
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

/** The requests that `probe` sends. One more is sent where the first path of the daily returns is refused. */
export function requestsOf(settings: Settings): number {
  const endpoints = askedEndpoints(settings);
  const perChain = endpoints.filter((endpoint) => endpoint !== 'machine_metrics').length;
  return perChain * settings.config.chains.length + (endpoints.length - perChain);
}

/** Asks every enabled endpoint once, on each chain. After a refusal of the key nothing more is asked. */
export async function probe(settings: Settings, proxies: Proxies | undefined, now: UnixMs): Promise<Probe> {
  const recorder = new Recorder(systemClock);
  const client = openClient({
    settings,
    proxies,
    clock: systemClock,
    ledger: emptyLedger(),
    transport: (send) => recorder.record(send),
  });
  const isAsked = new Set(askedEndpoints(settings));
  const findings: Finding[] = [];

  async function ask(question: Question): Promise<unknown> {
    if (!isAsked.has(question.request.endpoint)) return undefined;
    const from = recorder.exchanges.length;
    const failure = await failureOf(client.api, question);
    const exchanges = recorder.exchanges.slice(from);
    findings.push(findingOf(question, exchanges, failure));
    const body = exchanges.at(-1)?.body;
    return failure || !body || !('json' in body) ? undefined : body.json;
  }

  try {
    await ask(machineMetrics(now));
    for (const { name: chain } of settings.config.chains) {
      await ask(dailyReturns(chain, settings.config.api.dailyReturnsPath));
      await ask(syncCommittee(chain));
      await ask(syncCommitteeMembers(chain));
      const epoch = await ask(epochSlots(chain, now));
      await ask(attesterSlashings(chain, slotToAsk(epoch, 'attesterslashingscount', chain, now)));
      await ask(proposerSlashings(chain, slotToAsk(epoch, 'proposerslashingscount', chain, now)));
    }
  } finally {
    await client.close();
  }
  return { ledger: client.rateLimiter.ledger, findings };
}

/** Sends the request, and where it is refused the one to the other path. Returns why there is no answer. */
async function failureOf(api: Api, { request, otherPath }: Question): Promise<Error | undefined> {
  const { signal } = new AbortController();
  const failureAt = async (path: string): Promise<Error | undefined> => {
    try {
      await api.request({ ...request, path }, z.unknown(), signal);
      return undefined;
    } catch (error) {
      if (error instanceof RequestFailed || error instanceof BudgetClosed) return error;
      throw error;
    }
  };
  const failure = await failureAt(request.path);
  if (otherPath === undefined || !(failure instanceof RequestFailed) || !PATH_REFUSED.has(failure.reason))
    return failure;
  return (await failureAt(otherPath)) && failure;
}

const PATH_REFUSED: ReadonlySet<RequestFailed['reason']> = new Set([
  'bad_request',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'unexpected_status',
  'invalid_body',
]);
