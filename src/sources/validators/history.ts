import { hash } from 'node:crypto';
import { SlotRow } from '../../api/answers/slots.ts';
import type { Api } from '../../api/client.ts';
import { PAGE_SIZE, type PastRange, requestTo, type Span } from '../../api/endpoints.ts';
import { RequestFailed } from '../../api/errors.ts';
import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, epochAt, epochEnd, epochTime, periodOf } from '../../facts/chain.ts';
import { chunksOf, type Identifier, indicesOf } from '../../facts/watch.ts';
import { type Family, mergeFamilies } from '../../toolkit/exposition/family.ts';
import { median } from '../../toolkit/lib/median.ts';
import type { UnixSeconds } from '../../toolkit/lib/time.ts';
import type { History, Past } from '../history.ts';
import { openKeys, resolved } from '../watched-keys.ts';
import {
  type Chunk,
  chunksIn,
  EpochCounters,
  type EpochRow,
  NO_EPOCHS,
  NotYet,
  type OwnOf,
  readRows,
} from './epoch-counters.ts';
import { epochFamilies } from './epoch-metrics.ts';
import { EPOCH_DUTIES, EPOCH_REWARDS, type EpochPart } from './epoch-parts.ts';
import type { ValidatorsOptions } from './options.ts';
import { NO_VALIDATORS, type Validators } from './state.ts';
import { hadNoDutiesIn, type Row, readChunk } from './status.ts';

const PARTS = [EPOCH_DUTIES, EPOCH_REWARDS] as unknown as readonly EpochPart<EpochRow, OwnOf>[];

export const EPOCHS: Past = {
  what: 'epochs of validators',
  endpoint: 'validators_performance_list',
  isDaily: false,
  parts: PARTS.map(({ name }) => name),
  flags: [],
};

/** One request: a part, and a chunk of the list that is the same for every epoch. */
interface Step {
  readonly epoch: number;
  readonly part: number;
  readonly chunk: number;
}

/** A request with its response. */
interface Counted extends Step {
  readonly group?: string | undefined;
  /** Null if the row is unreadable. */
  readonly rows: readonly (readonly [validator: number, row: EpochRow | null])[];
  /** Only of the first one: when its counters are 0. */
  readonly begin?: UnixSeconds;
}

/** What is known before the first page. */
interface Known {
  /** With the indices of all keys. */
  readonly options: ValidatorsOptions;
  readonly rows: ReadonlyMap<number, Row>;
  readonly finalEpoch: number;
}

/** Every finalized epoch of the watched validators. An epoch belongs to the range in which it ends. */
export function epochsHistory(
  options: ValidatorsOptions,
  { epoch_duties, epoch_rewards }: Validators,
): History<Counted> {
  const { chain } = options;
  const firsts = [epoch_duties, epoch_rewards].flatMap((ledger) => ledger?.first ?? []);
  const counters = PARTS.map((part) => new EpochCounters(part, NO_EPOCHS));
  const unread = PARTS.map(() => 0);
  let known: Known | undefined;

  function prepared(): Known {
    if (!known) throw new TypeError('a history before it is prepared');
    return known;
  }

  function chunksFor({ first, last }: Epochs): Chunk[] {
    const { options, rows } = prepared();
    return chunksIn(options.groups, (one) => {
      const [from, until] = lifeOf(rows.get(one));
      return from <= last && until > first;
    });
  }

  /** Every request of a range, from the cursor on, without epochs in which no validator of the chunk was active. */
  function* stepsFrom(range: PastRange, cursor = ''): Generator<Step & { of: Chunk }> {
    const { rows, finalEpoch } = prepared();
    const epochs = epochsIn(options, range);
    const chunks = chunksFor(epochs);
    const lives = chunks.map(({ validators }) => validators.map((one) => lifeOf(rows.get(one))));
    const last = Math.min(epochs.last, finalEpoch);
    const [first = 0, begun = 0, next = 0] = cursor.split(' ').map(Number);
    let position = begun * chunks.length + next;
    for (let epoch = Math.max(first, epochs.first); epoch <= last; epoch += 1) {
      for (; position < PARTS.length * chunks.length; position += 1) {
        const [part, chunk] = [Math.floor(position / chunks.length), position % chunks.length];
        const isActive = lives[chunk]?.some(([from, until]) => from <= epoch && epoch < until);
        if (isActive) yield { epoch, part, chunk, of: chunks[chunk] as Chunk };
      }
      position = 0;
    }
  }

  function familiesAt(at: UnixSeconds, counted?: number): Family[] {
    const { options } = prepared();
    const value = PARTS.reduce((all, part, i) => {
      const { groups, validators } = (counters[i] as (typeof counters)[number]).counted();
      const ledger = { ...NO_EPOCHS, unread: unread[i] ?? 0, groups, validators };
      return part.with(all, counted === undefined ? ledger : { ...ledger, counted });
    }, NO_VALIDATORS);
    return epochFamilies(options, value, at * 1000).map(({ samples, ...head }) => ({
      ...head,
      samples: samples.map(({ labels, value }) => ({ labels, value, at })),
    }));
  }

  return {
    liveFrom: firsts.length === 0 ? null : epochTime(chain, Math.min(...firsts)),
    async prepare(api, signal) {
      const rows = await readStatus(api, options, signal);
      const { watch, groups } = resolved(options, rows, null);
      known = {
        options: { ...options, watch, groups, epochs: true },
        rows: new Map(rows.flatMap((row) => (row.index === undefined ? [] : [[row.index, row]]))),
        finalEpoch: await readFinalEpoch(api, options, signal),
      };
    },
    basis: (range) => hash('sha256', JSON.stringify(chunksFor(epochsIn(options, range)))),
    async readPage(api, range, cursor, signal) {
      const [step, next] = stepsFrom(range, cursor).take(2);
      if (!step) return { cursor: undefined, count: 0, records: [] };
      const { epoch, part, chunk, of } = step;
      const hadNoDuties = (one: number): boolean => hadNoDutiesIn(prepared().rows.get(one), epoch);
      const asked = { chain, epoch, validators: of.validators, priority: 'catch_up', hadNoDuties } as const;
      const rows = await readRows({ api, signal }, PARTS[part] as (typeof PARTS)[number], asked).catch(
        (error: unknown) => {
          if (!(error instanceof NotYet)) throw error;
          // A fault of the service, which may pass.
          throw new RequestFailed(error.endpoint, 'invalid_body', `epoch ${epoch} is final, but the response lacks it`);
        },
      );
      // After the last sample of an earlier range, and before the first of this one.
      const begin = Math.max(epochTime(chain, epoch), spanOf(range).start) + 0.5;
      const record: Counted = {
        ...{ epoch, part, chunk, group: of.group },
        rows: [...rows].map(([validator, row]) => [validator, row ?? null]),
        ...(cursor === undefined && { begin }),
      };
      const bad = record.rows.filter(([, row]) => row === null).length;
      return { cursor: next && `${next.epoch} ${next.part} ${next.chunk}`, count: 1 + bad, records: [record] };
    },
    estimate: async (_api, ranges) => ranges.map((range) => stepsFrom(range).reduce((count) => count + 1, 0)),
    reachSeconds: 0,
    at: ({ epoch }) => epochEnd(chain, epoch) / 1000,
    group: () => chain,
    stream: ({ part, chunk }) => `${part} ${chunk}`,
    families(records) {
      const { rows, options } = prepared();
      const families: Family[] = [];
      for (const [epoch, ofEpoch] of Map.groupBy(records, (record) => record.epoch)) {
        const begin = ofEpoch[0]?.begin;
        if (begin !== undefined) {
          const isShown = (one: number): boolean => {
            const [from, until] = lifeOf(rows.get(one));
            return from < Infinity && until > epoch;
          };
          for (const one of counters) one.begin(indicesOf(options.watch).filter(isShown), epoch - 1);
          families.push(...familiesAt(begin));
        }
        for (const { part, group, rows } of ofEpoch) {
          const read = new Map(rows.map(([validator, row]) => [validator, row ?? undefined]));
          unread[part] = (unread[part] ?? 0) + (counters[part]?.add({ group }, read, epoch) ?? 0);
        }
        families.push(...familiesAt(epochEnd(chain, epoch) / 1000, epoch));
      }
      return mergeFamilies(families);
    },
  };
}

interface Epochs {
  readonly first: number;
  readonly last: number;
}

/** The epochs that end in a range, whose start is exclusive. */
function epochsIn({ chain }: ValidatorsOptions, range: PastRange): Epochs {
  const { start, end } = spanOf(range);
  return { first: Math.max(0, epochAt(chain, start * 1000)), last: epochAt(chain, end * 1000) - 1 };
}

function spanOf(range: PastRange): Span {
  if (!('start' in range)) throw new TypeError('epochs have no evaluation windows');
  return range;
}

/**
 * The epochs in which a validator may have a row. A slashed one has penalties until it is withdrawable. A sync committee is drawn a period
 * ahead, and its members keep their seats after an exit.
 */
function lifeOf(row: Row | undefined): readonly [from: number, until: number] {
  if (!row) return [0, Infinity];
  const { epoch, slashed, activationEpoch, exitEpoch = Infinity, withdrawableEpoch = Infinity } = row;
  const isNew = activationEpoch === undefined && exitEpoch === Infinity && hadNoDutiesIn(row, epoch);
  const seatedUntil = (periodOf(exitEpoch - 1) + 2) * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
  return [isNew ? Infinity : (activationEpoch ?? 0), Math.max(seatedUntil, slashed ? withdrawableEpoch : 0)];
}

/** @throws RequestFailed, also if the index of a public key is unknown */
async function readStatus(api: Api, options: ValidatorsOptions, signal: AbortSignal): Promise<Row[]> {
  const { chain, watch } = options;
  const keys = openKeys(options);
  const rows: Row[] = [];
  for (const chunk of chunksOf<Identifier>([...indicesOf(watch), ...keys], PAGE_SIZE))
    rows.push(...(await readChunk(api, chain, chunk, signal)));
  const missing = keys.find((key) => rows.every((row) => row.key !== key));
  if (missing !== undefined) throw new RequestFailed('validators', 'invalid_body', `no readable row of ${missing}`);
  return rows;
}

/** By the middle row, because a single wrong row must not decide. */
async function readFinalEpoch(api: Api, { chain }: ValidatorsOptions, signal: AbortSignal): Promise<number> {
  const request = requestTo('epoch_slots', { chain, epoch: 'finalized', priority: 'catch_up' });
  const { data } = await api.request(request, signal);
  const epochs = api.records('epoch_slots', SlotRow, data).map(({ epoch }) => epoch);
  return Math.min(median(epochs) ?? -1, epochAt(chain, api.now()) - 2);
}
