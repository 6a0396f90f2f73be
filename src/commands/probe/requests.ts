import type * as z from 'zod';
import type { ApiRequest } from '../../api/client.ts';
import { type Chain, EPOCHS_PER_SYNC_COMMITTEE_PERIOD, epochAt, SLOTS_PER_EPOCH } from '../../lib/chain.ts';
import { isObject } from '../../lib/is-object.ts';
import type { UnixMs } from '../../lib/time.ts';
import { DAILY_RETURNS_PATHS, DAYS_PER_PAGE } from '../../sources/daily-returns/poll.ts';
import { DailyReturnsPage, Datapoint } from '../../sources/daily-returns/schema.ts';
import { RECORDS_PER_PAGE } from '../../sources/machines/options.ts';
import { isPlausibleAt } from '../../sources/machines/reading.ts';
import { MachineMetricsPage, PROCESSES, RECORDS } from '../../sources/machines/schema.ts';
import { isPlausibleRowAt } from '../../sources/slashings/read.ts';
import { AttesterSlashing, ProposerSlashing, SlotRow, V1List } from '../../sources/slashings/schema.ts';
import { MembersAnswer, Seat, SyncCommitteeAnswer } from '../../sources/sync-committee/schema.ts';

/** One request, and how the exporter reads the answer to it. */
export interface Question {
  readonly request: ApiRequest;
  /** The alternative if the service does not know that. */
  readonly other?: Pick<ApiRequest, 'path'> | Required<Pick<ApiRequest, 'body'>>;
  readonly envelope: z.ZodType;
  /** The records of an answer that the envelope accepts, by the field that has them. */
  readonly records: (answer: unknown) => readonly Records[];
}

export interface Records {
  readonly schema: z.ZodType;
  readonly items: readonly unknown[];
}

const LOOK_BACK_SECONDS = 3_600;

/** The newest records of the last hour. */
export function machineMetrics(now: UnixMs): Question {
  const end = Math.floor(now / 1000);
  const body = { range: { timestamp: { start: end - LOOK_BACK_SECONDS, end } }, page_size: RECORDS_PER_PAGE };
  const isPlausible = isPlausibleAt(now);
  const schemas = {
    system: RECORDS.system.refine(isPlausible),
    validator: RECORDS.validator.refine(isPlausible),
    node: RECORDS.node.refine(isPlausible),
  };
  return {
    request: { endpoint: 'machine_metrics', priority: 'machines', path: '/api/v2/machine-metrics', body },
    envelope: MachineMetricsPage,
    records: (answer) =>
      PROCESSES.map((process) => ({
        schema: schemas[process],
        items: listAt(answer, 'data', `${process}_metrics`),
      })),
  };
}

/** The newest day. */
export function dailyReturns(chain: Chain): Question {
  const [first, second] = DAILY_RETURNS_PATHS;
  const body = { chain, range: { evaluation_window: '24h' }, page_size: DAYS_PER_PAGE };
  return {
    request: { endpoint: 'daily_returns', priority: 'daily_returns', chain, path: first, body },
    other: { path: second },
    envelope: DailyReturnsPage,
    records: (answer) => [{ schema: Datapoint, items: listAt(answer, 'data') }],
  };
}

/** The current period, or the one that was current an epoch ago. */
export function syncCommittee(chain: Chain, now: UnixMs): Question {
  const body = { sync_committee_period: { view: 'latest' }, chain };
  const number = Math.floor((epochAt(chain, now) - 1) / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
  return {
    request: {
      endpoint: 'sync_committee',
      priority: 'sync_committee',
      chain,
      path: '/api/v2/ethereum/sync-committee',
      body,
    },
    other: { body: { sync_committee_period: { number }, chain } },
    envelope: SyncCommitteeAnswer,
    records: (answer) => [{ schema: SyncCommitteeAnswer, items: [answer] }],
  };
}

/** The members of the current period. */
export function syncCommitteeMembers(chain: Chain): Question {
  return {
    request: {
      endpoint: 'sync_committee_members',
      priority: 'sync_committee',
      chain,
      path: '/api/v1/sync_committee/latest',
    },
    envelope: MembersAnswer,
    records: (answer) => [
      { schema: Seat, items: listAt(answer, 'data', 'validators').map((validator) => ({ validator })) },
    ],
  };
}

/** The slots at the head of the chain, or those of the epoch before. */
export function epochSlots(chain: Chain, now: UnixMs): Question {
  return {
    request: { endpoint: 'epoch_slots', priority: 'head_pass', chain, path: '/api/v1/epoch/latest/slots' },
    other: { path: `/api/v1/epoch/${epochAt(chain, now) - 1}/slots` },
    envelope: V1List,
    records: (answer) => [{ schema: SlotRow.refine(isPlausibleRowAt(chain, now)), items: listAt(answer, 'data') }],
  };
}

/** The attester slashings of a slot. */
export function attesterSlashings(chain: Chain, slot: number): Question {
  return slashingsOf('attester_slashings', AttesterSlashing, chain, `/api/v1/slot/${slot}/attesterslashings`);
}

/** The proposer slashings of a slot. */
export function proposerSlashings(chain: Chain, slot: number): Question {
  return slashingsOf('proposer_slashings', ProposerSlashing, chain, `/api/v1/slot/${slot}/proposerslashings`);
}

function slashingsOf(
  endpoint: 'attester_slashings' | 'proposer_slashings',
  schema: z.ZodType,
  chain: Chain,
  path: string,
): Question {
  return {
    request: { endpoint, priority: 'slashing_details', chain, path },
    envelope: V1List,
    records: (answer) => [{ schema, items: listAt(answer, 'data') }],
  };
}

/** A slot of an epoch that is worth asking for: one that announces a slashing, else the last that has a row. */
export function slotToAsk(
  epoch: unknown,
  announcing: 'attesterslashingscount' | 'proposerslashingscount',
  chain: Chain,
  now: UnixMs,
): number {
  const rows = listAt(epoch, 'data').filter(isObject);
  const row = rows.find((one) => Number(one[announcing]) > 0) ?? rows.findLast((one) => one['status'] === '1');
  const slot = row?.['slot'];
  // Without an answer, the last slot of the epoch before this one.
  return Number.isSafeInteger(slot) ? Number(slot) : epochAt(chain, now) * SLOTS_PER_EPOCH - 1;
}

/** The list at a path; empty where there is none. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = path.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);
  return Array.isArray(found) ? found : [];
}
