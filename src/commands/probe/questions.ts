import type * as z from 'zod';
import type { ApiRequest } from '../../api/client.ts';
import { type Chain, epochAt, SLOTS_PER_EPOCH } from '../../lib/chain.ts';
import { isObject } from '../../lib/is-object.ts';
import type { UnixMs } from '../../lib/time.ts';
import type { Watch } from '../../lib/watch.ts';
import { DAILY_RETURNS_PATHS, DAYS_PER_PAGE } from '../../sources/daily-returns/poll.ts';
import { DailyReturnsPage, Datapoint } from '../../sources/daily-returns/schema.ts';
import { RECORDS_PER_PAGE } from '../../sources/machines/options.ts';
import { isPlausibleAt } from '../../sources/machines/poll.ts';
import { MachineMetricsPage, RECORDS } from '../../sources/machines/schema.ts';
import { MembersAnswer } from '../../sources/members.ts';
import { isPlausibleRowAt } from '../../sources/slashings/read.ts';
import { AttesterSlashing, ProposerSlashing, SlotRow, V1List } from '../../sources/slashings/schema.ts';
import { SyncCommitteeAnswer } from '../../sources/sync-committee/schema.ts';
import { IDENTIFIERS, IDENTIFIERS_OF_PERFORMANCE } from '../../sources/validators/costs.ts';
import { PerformanceAnswer, ValidatorRow, ValidatorsAnswer } from '../../sources/validators/schema.ts';
import { chunksOf } from '../../sources/validators/status.ts';

/** One request, and how the exporter reads the answer to it. */
export interface Question {
  readonly request: ApiRequest;
  /** Replaces the path if the service does not know it. */
  readonly otherPath?: string;
  /** Whether a 404 says that there is no record. */
  readonly mayFindNone?: true;
  readonly envelope: z.ZodType;
  /** The schema of the records in each list, by the path of the list. Empty: the answer is the only record. */
  readonly records: Readonly<Record<string, z.ZodType>>;
}

const LOOK_BACK_SECONDS = 3_600;

/** The newest machine records of the last hour. */
export function machinesQuestion(now: UnixMs): Question {
  const end = Math.floor(now / 1000);
  const body = { range: { timestamp: { start: end - LOOK_BACK_SECONDS, end } }, page_size: RECORDS_PER_PAGE };
  const isPlausible = isPlausibleAt(now);
  return {
    request: { endpoint: 'machine_metrics', priority: 'machines', path: '/api/v2/machine-metrics', body },
    envelope: MachineMetricsPage,
    records: {
      'data.system_metrics': RECORDS.system.refine(isPlausible),
      'data.validator_metrics': RECORDS.validator.refine(isPlausible),
      'data.node_metrics': RECORDS.node.refine(isPlausible),
    },
  };
}

/** The newest day and the current sync committee. */
export function dailyQuestions(chain: Chain): Question[] {
  const [path, otherPath] = DAILY_RETURNS_PATHS;
  const day = { chain, range: { evaluation_window: '24h' }, page_size: DAYS_PER_PAGE };
  const period = { chain, sync_committee_period: { view: 'latest' } };
  return [
    {
      request: { endpoint: 'daily_returns', priority: 'daily_returns', chain, path, body: day },
      otherPath,
      envelope: DailyReturnsPage,
      records: { data: Datapoint },
    },
    {
      request: {
        endpoint: 'sync_committee',
        priority: 'sync_committee',
        chain,
        path: '/api/v2/ethereum/sync-committee',
        body: period,
      },
      envelope: SyncCommitteeAnswer,
      records: {},
    },
  ];
}

/** The members of the current sync committee, and the first watched validators. */
export function validatorsQuestions(chain: Chain, watch: Watch): Question[] {
  const [, ofAllPlans] = IDENTIFIERS_OF_PERFORMANCE;
  const first = (count: number): number[] => chunksOf(watch, count).next().value ?? [];
  const v2 = '/api/v2/ethereum/validators';
  const status = { chain, validator: { validator_identifiers: first(IDENTIFIERS) }, page_size: IDENTIFIERS };
  const day = { chain, validator: { validator_identifiers: first(ofAllPlans) }, range: { evaluation_window: '24h' } };
  const own = { priority: 'validators', chain } as const;
  return [
    {
      request: {
        endpoint: 'sync_committee_members',
        priority: 'sync_committee',
        chain,
        path: '/api/v1/sync_committee/latest',
      },
      envelope: MembersAnswer,
      records: {},
    },
    {
      request: { ...own, endpoint: 'validators', path: v2, body: status },
      mayFindNone: true,
      envelope: ValidatorsAnswer,
      records: { data: ValidatorRow },
    },
    {
      request: { ...own, endpoint: 'validators_performance', path: `${v2}/performance-aggregate`, body: day },
      envelope: PerformanceAnswer,
      records: {},
    },
  ];
}

/** The slots at the head of the chain. */
export function slotsQuestion(chain: Chain, now: UnixMs): Question {
  return {
    request: { endpoint: 'epoch_slots', priority: 'head_pass', chain, path: '/api/v1/epoch/latest/slots' },
    envelope: V1List,
    records: { data: SlotRow.refine(isPlausibleRowAt(chain, now)) },
  };
}

/** The slashings of a slot. If possible, it is one for which the answer about the slots announces slashings. */
export function slashingsQuestions(chain: Chain, slots: unknown, now: UnixMs): Question[] {
  const rows = listAt(slots, 'data').filter(isObject);
  const pathOf = (kind: 'attester' | 'proposer'): string => {
    const announcing = rows.find((row) => Number(row[`${kind}slashingscount`]) > 0);
    const slot = (announcing ?? rows.findLast(({ status }) => status === '1'))?.['slot'];
    // Without an answer, the last slot of the epoch before this one.
    const known = Number.isSafeInteger(slot) ? slot : epochAt(chain, now) * SLOTS_PER_EPOCH - 1;
    return `/api/v1/slot/${known}/${kind}slashings`;
  };
  const details = { priority: 'slashing_details', chain } as const;
  return [
    {
      request: { ...details, endpoint: 'attester_slashings', path: pathOf('attester') },
      envelope: V1List,
      records: { data: AttesterSlashing },
    },
    {
      request: { ...details, endpoint: 'proposer_slashings', path: pathOf('proposer') },
      envelope: V1List,
      records: { data: ProposerSlashing },
    },
  ];
}

/** The list at a path such as `data.validators`; empty if there is none. */
export function listAt(value: unknown, path: string): readonly unknown[] {
  const found = path.split('.').reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);
  return Array.isArray(found) ? found : [];
}
