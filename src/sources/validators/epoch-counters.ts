import type { Api } from '../../api/client.ts';
import { PAGE_SIZE, requestTo } from '../../api/endpoints.ts';
import { isFailure, RequestFailed } from '../../api/errors.ts';
import { eachPage } from '../../api/paginate.ts';
import type { Priority } from '../../budget/permit.ts';
import type { Chain } from '../../facts/chain.ts';
import type { WatchedGroup } from '../../facts/groups.ts';
import { chunksOf, indicesOf } from '../../facts/watch.ts';
import { spaced } from '../../toolkit/lib/words.ts';
import type { EpochPart } from './epoch-parts.ts';
import type { Ledger } from './state.ts';

/** The service may send fewer rows a page. */
const PAGES_OF_CHUNK = 2 * PAGE_SIZE;

export interface EpochRow {
  readonly validator: { readonly index?: number | undefined };
  readonly finality?: string | null | undefined;
}

export type OwnOf = readonly [validator: number, ...unknown[]];

/** The validators of one request, all of one group. */
export interface Chunk {
  readonly group?: string | undefined;
  readonly validators: readonly number[];
}

/** Before the first epoch. */
export const NO_EPOCHS: Ledger & { validators: never[] } = {
  done: [],
  failed: [],
  unreadable: [],
  skipped: 0,
  unread: 0,
  groups: [],
  validators: [],
};

export function chunksIn(groups: readonly WatchedGroup[], isWanted: (validator: number) => boolean): Chunk[] {
  return groups.flatMap(({ group, watch }) =>
    chunksOf(indicesOf(watch).filter(isWanted).toArray(), PAGE_SIZE).map((validators) => ({ group, validators })),
  );
}

/** The sums of a part, by group and by validator. */
export class EpochCounters<Row, Own extends OwnOf> {
  readonly #part: EpochPart<Row, Own>;
  readonly #totals: Map<string | undefined, Map<string, bigint>>;
  readonly #own: Map<number, Own>;

  /** @param counted The sums of earlier epochs */
  constructor(
    part: EpochPart<Row, Own>,
    { groups, validators }: Pick<Ledger, 'groups'> & { readonly validators: readonly Own[] },
  ) {
    this.#part = part;
    this.#own = new Map(validators.map((one) => [one[0], one]));
    this.#totals = new Map(
      groups.map(({ group, totals }) => [
        group,
        new Map(Object.entries(totals).map(([name, sum]) => [name, BigInt(sum)])),
      ]),
    );
  }

  /** Shows these validators before their first row. */
  begin(validators: Iterable<number>, epoch: number): void {
    for (const one of validators) this.#own.set(one, this.#part.none(one, epoch));
  }

  /** Adds the rows of a chunk. Returns how many are unreadable. */
  add({ group }: Pick<Chunk, 'group'>, rows: ReadonlyMap<number, Row | undefined>, epoch: number): number {
    const totals = this.#totals.get(group) ?? new Map<string, bigint>();
    this.#totals.set(group, totals);
    let unread = 0;
    for (const [validator, row] of rows) {
      if (!row) {
        unread += 1;
        continue;
      }
      for (const [name, amount = 0n] of this.#part.added(row)) totals.set(name, (totals.get(name) ?? 0n) + amount);
      const own = this.#part.own(validator, row, this.#own.get(validator), epoch);
      if (own) this.#own.set(validator, own);
    }
    return unread;
  }

  /** In the form of the ledger. */
  counted(): Pick<Ledger, 'groups'> & { validators: Own[] } {
    const groups = [...this.#totals].map(([group, totals]) => ({
      ...(group !== undefined && { group }),
      totals: Object.fromEntries([...totals].map(([name, sum]) => [name, String(sum)])),
    }));
    return { groups, validators: [...this.#own.values()].sort(([a], [b]) => a - b) };
  }
}

/** The service does not have this epoch yet. */
export class NotYet extends RequestFailed {}

interface Asked {
  readonly chain: Chain;
  readonly epoch: number;
  readonly validators: readonly number[];
  readonly priority: Priority;
  /** Whether the validator certainly had no duties in the epoch. */
  hadNoDuties(validator: number): boolean;
}

/**
 * The rows of a chunk. A validator without an entry had no duty; undefined means that its row may be unreadable.
 * @throws NotYet, RequestFailed
 */
export async function readRows<Row extends EpochRow>(
  { api, signal }: { readonly api: Api; readonly signal: AbortSignal },
  { endpoint, row: schema }: Pick<EpochPart<Row, never>, 'endpoint' | 'row'>,
  { chain, epoch, validators, priority, hadNoDuties }: Asked,
): Promise<Map<number, Row | undefined>> {
  const rows = new Map<number, Row | undefined>();
  let count = 0;
  try {
    const ending = await eachPage(async (cursor) => {
      const asked = { chain, identifiers: validators, epoch, cursor, priority };
      const { data, range, paging } = await api.request(requestTo(endpoint, asked), signal);
      const { start, end } = range.epoch;
      if (end !== epoch || (start ?? end) !== end)
        throw new RequestFailed(endpoint, 'invalid_body', `epoch ${end} in place of ${epoch}`);
      const read = api.records(endpoint, schema, data, ({ validator: { index = -1 } }) => validators.includes(index));
      if (read.some(({ finality }) => finality !== 'finalized')) throw notYet(endpoint, `epoch ${epoch} is not final`);
      for (const row of read) rows.set(row.validator.index ?? -1, row);
      count += data.length;
      return { cursor: paging?.next_cursor, count: data.length };
    }, PAGES_OF_CHUNK);
    if (ending !== 'end' && rows.size < validators.length)
      throw new RequestFailed(endpoint, 'invalid_body', `rows may be missing: ${spaced(ending)}`);
  } catch (error) {
    if (isFailure(error, 'not_found') && validators.every(hadNoDuties)) return rows;
    throw isFailure(error, 'not_found', 'bad_request') ? notYet(endpoint, error.message) : error;
  }
  if (rows.size === 0 && !validators.every(hadNoDuties)) throw notYet(endpoint, `no rows of epoch ${epoch}`);
  // A row that is unreadable, or repeats another, may be in the place of one that is missing.
  const missing = validators.filter((one) => !rows.has(one) && !hadNoDuties(one));
  for (const one of missing.slice(0, count - rows.size)) rows.set(one, undefined);
  return rows;
}

function notYet(endpoint: RequestFailed['endpoint'], detail: string): NotYet {
  return new NotYet(endpoint, 'not_found', detail);
}
