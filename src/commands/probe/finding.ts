import { compareAnswer, type Difference, type TimeUnit } from '../../api/differences.ts';
import type { Endpoint } from '../../api/errors.ts';
import { BudgetClosed } from '../../budget/permit.ts';
import type { Chain } from '../../lib/chain.ts';
import { isObject } from '../../lib/is-object.ts';
import { RECORDS_PER_PAGE } from '../../sources/machines/options.ts';
import { PROCESSES } from '../../sources/machines/schema.ts';
import type { Exchange } from './recorder.ts';
import { listAt, type Question } from './requests.ts';

/** The result of one question. */
export interface Finding {
  readonly endpoint: Endpoint;
  readonly chain: Chain | undefined;
  /** False: after an earlier answer no request may be sent. */
  readonly isAsked: boolean;
  /** The answers, those to retries and to the other path included. */
  readonly exchanges: readonly Exchange[];
  /** Why there is nothing to read; undefined: the answer was read. */
  readonly failure: string | undefined;
  readonly read: number;
  readonly unreadable: number;
  /** Why the first of them could not be read. */
  readonly firstReason: string | undefined;
  readonly differences: readonly Difference[];
  /** The units of the times of machine records. */
  readonly units: readonly TimeUnit[];
  /** What `page_size` limits, if this response shows it. */
  readonly pageSize: 'each list' | 'all lists together' | undefined;
}

/** Pure. The content of a response, or why there is none. */
export function findingOf(
  { request, envelope, records }: Question,
  exchanges: readonly Exchange[],
  failure: Error | undefined,
): Finding {
  const { endpoint, chain } = request;
  const nothing: Finding = {
    endpoint,
    chain,
    isAsked: !(failure instanceof BudgetClosed),
    exchanges,
    failure: failure?.message.replace(`${endpoint}: `, ''),
    read: 0,
    unreadable: 0,
    firstReason: undefined,
    differences: [],
    units: [],
    pageSize: undefined,
  };
  const body = exchanges.at(-1)?.body;
  if (failure || !body || !('json' in body)) return nothing;
  const answer = body.json;
  const { differences, units } = compareAnswer(endpoint, answer);
  const found = {
    ...nothing,
    differences,
    units: [...new Set([...units.values()].flatMap((one) => [...one]))],
    pageSize: endpoint === 'machine_metrics' ? pageSizeOf(answer) : undefined,
  };
  const opened = envelope.safeParse(answer);
  if (!opened.success) return { ...found, failure: `unexpected shape: ${reasonOf(opened.error)}` };
  let read = 0;
  const reasons: string[] = [];
  for (const { schema, items } of records(answer)) {
    for (const item of items) {
      const parsed = schema.safeParse(item);
      if (parsed.success) read += 1;
      else reasons.push(reasonOf(parsed.error));
    }
  }
  return { ...found, read, unreadable: reasons.length, firstReason: reasons[0] };
}

/** Where a value is not as expected, and what was expected. The value itself may be personal. */
function reasonOf({
  issues: [issue],
}: {
  issues: readonly { path: readonly PropertyKey[]; message: string }[];
}): string {
  const where = issue?.path.join('.');
  return `${where ? `${where}: ` : ''}${issue?.message ?? 'not as expected'}`;
}

/** If a page has more records in total than requested, each list has its own limit. */
function pageSizeOf(answer: unknown): Finding['pageSize'] {
  const sizes = PROCESSES.map((process) => listAt(answer, 'data', `${process}_metrics`).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total > RECORDS_PER_PAGE) return 'each list';
  const paging = isObject(answer) ? answer['paging'] : undefined;
  const hasMore = isObject(paging) && Boolean(paging['next_cursor']);
  return hasMore && total === RECORDS_PER_PAGE && Math.max(...sizes) < total ? 'all lists together' : undefined;
}
