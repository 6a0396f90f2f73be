import * as z from 'zod';
import { Wei } from '../../api/answers/fields.ts';
import { CredentialType, Status } from '../../api/answers/validators.ts';
import type { Identifier } from '../../facts/watch.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { Performance, VOTES } from '../duties.ts';
import { Index, Slashed } from '../slashed.ts';

const CredentialsChange = z.object({
  from: CredentialType,
  to: CredentialType,
  /** Where withdrawals go. Null: not known. */
  address: z.string().nullable(),
  /** That of the first answer with the new type. */
  epoch: Index,
});
export type CredentialsChange = z.infer<typeof CredentialsChange>;

/** The withdrawal credentials of a validator. */
const Credentials = z.object({
  type: CredentialType,
  address: z.string().nullable(),
  /** What it was before it fell, which it cannot on chain. Absent: it has not. */
  highest: CredentialType.optional(),
  /** Seen in one answer. The next one confirms it, or it was none. */
  unconfirmed: CredentialsChange.optional(),
  /** Confirmed ones, the newest by what they mean: `0x01` if it got an address. */
  changes: z.partialRecord(CredentialType, CredentialsChange),
});
export type Credentials = z.infer<typeof Credentials>;

const Validator = z.object({
  /** Absent while the service has no index for its key. */
  index: Index.optional(),
  /** Its public key, if it was requested by it. */
  key: z.string().optional(),
  status: Status,
  /** Null: without duties it is neither online nor offline. */
  online: z.boolean().nullable(),
  balance: Wei.nullable(),
  effectiveBalance: Wei.nullable(),
  /** The epoch of the answer. */
  epoch: Index,
  /** The time of the round that last had an answer about it, also one that is older or lacks it (Unix ms). */
  askedAt: z.number(),
  /** The epoch of the first answer of an unbroken row that reports it as offline. */
  offlineSince: Index.optional(),
  /** The first answer of an unbroken row that lacks it, while it keeps its values: its epoch, and when it came (Unix ms). */
  missing: z.object({ epoch: Index, at: z.number() }).optional(),
  /** Before this epoch it has no duties. */
  activationEpoch: Index.optional(),
  /** From this epoch on it has no duties, once it has left. */
  exitEpoch: Index.optional(),
  /** From this epoch on its balance can be withdrawn. */
  withdrawableEpoch: Index.optional(),
  credentials: Credentials.optional(),
  slashed: Slashed.optional(),
  /** The last answer that has it reports it as not slashed, and none before reported it as slashed. */
  wasUnslashed: z.boolean().optional(),
});
export type Validator = z.infer<typeof Validator>;

/** One that the service has an index for. */
export type Indexed = Validator & { readonly index: number };

export function isIndexed(validator: Validator): validator is Indexed {
  return validator.index !== undefined;
}

/** What it is requested by. */
export function identifierOf({ index, key = '' }: Pick<Validator, 'index' | 'key'>): Identifier {
  return index ?? key;
}

/** A sum of wei over many answers, as a decimal string. */
const Sum = z.string().regex(/^-?\d{1,40}$/);
const PerDuty = z.object({ attestation: Sum.optional(), proposal: Sum.optional(), sync_committee: Sum.optional() });
export type PerDuty = z.infer<typeof PerDuty>;

/** What some validators earned and missed in the last 24 hours. Persisted. What is not known of all of them is absent. */
export const Rewards = z.object({
  /** On the consensus layer, rewards minus penalties. */
  earned: PerDuty,
  missed: PerDuty,
  /** The part of `missed` that each vote of attestations has. */
  missedVotes: z.partialRecord(z.enum(VOTES), Sum),
  execution: Sum.optional(),
  penalties: Sum.optional(),
  /** The part of `penalties` that an inactivity leak has. */
  leak: Sum.optional(),
  /** The last epoch of the oldest answer. */
  epoch: z.number().optional(),
});
export type Rewards = z.infer<typeof Rewards>;

export interface GroupSums<S> {
  /** Its validators, as ranges and the beginnings of keys. */
  readonly watch: string;
  /** The time of the round that last had answers about all of it (Unix ms). */
  readonly askedAt: UnixMs;
  /** When the 24 hours of the oldest of these answers ended, at the latest. */
  readonly at: UnixMs;
  readonly sums: S;
}

export type FreshSums<S> = GroupSums<S> & { readonly until: UnixMs };

function sumsOf<S extends z.ZodType>(sums: S) {
  return z.array(z.object({ watch: z.string(), askedAt: z.number(), at: z.number(), sums }));
}

/** The seats of a period, in the order of the committee. One validator can have several. */
const Committee = z.object({ period: Index, seats: z.array(Index) });
export type Committee = z.infer<typeof Committee>;

const Ranges = z.array(z.object({ first: Index, last: Index }));
const Total = z.number().int().nonnegative();
/** A sum that never falls, of counts or of wei, as a decimal string. */
const Counter = z.string().regex(/^\d{1,60}$/);

/** The ledger of the finalized epochs of one part. Each epoch and validator is counted once. */
export const Ledger = z.object({
  /** Every epoch up to this one is counted or skipped. Absent: it starts with the newest final one. */
  cursor: z.number().int().min(-1).exactOptional(),
  /** The validators of the epoch after it that are counted already. */
  done: Ranges,
  /** How long that epoch has been tried since a request about it failed. */
  triedMs: z.number().exactOptional(),
  /** Those whose last request about it failed. They are requested after the others. */
  failed: Ranges,
  /** Those whose requests failed until an epoch was counted without them. They are requested once an epoch. */
  unreadable: Ranges,
  /** When to read again, if not at the next interval: at once, or in a minute because the service has no answer yet. */
  again: z.enum(['now', 'soon']).exactOptional(),
  /** When the last epoch of which something was read was begun (Unix ms). */
  begunAt: z.number().exactOptional(),
  /** When a stop longer than `catch_up` ended, until it is known what became final during it (Unix ms). */
  stoppedUntil: z.number().exactOptional(),
  /** The first epoch that was to be counted. A backfill ends before it. */
  first: Index.exactOptional(),
  /** The newest epoch that was counted. */
  counted: Index.exactOptional(),
  skipped: Total,
  /** Validators that an epoch was counted without. */
  unread: Total,
  /** The counters by group. Absent `group`: those in none. A counter that is absent is 0. */
  groups: z.array(z.object({ group: z.string().exactOptional(), totals: z.record(z.string(), Counter) })),
});
export type Ledger = z.infer<typeof Ledger>;

/** Index, the newest epoch with a duty, misses in the last ten of them as bits, all misses, and the epoch of the last one. */
const OwnDuties = z.tuple([Index, Index, Index, Total, Index.nullable()]);
export type OwnDuties = z.infer<typeof OwnDuties>;
/** Index, rewards and penalties. */
const OwnRewards = z.tuple([Index, Counter, Counter]);
export type OwnRewards = z.infer<typeof OwnRewards>;

export const Validators = z.object({
  validators: z.array(Validator),
  duties: sumsOf(Performance),
  rewards: sumsOf(Rewards),
  /** Whether the plan refused 100 identifiers at once. */
  hasSmallChunks: z.boolean().optional(),
  committees: z.array(Committee),
  /** What happened in each finalized epoch. Absent: that part has never run. */
  epoch_duties: Ledger.extend({ validators: z.array(OwnDuties) }).exactOptional(),
  epoch_rewards: Ledger.extend({ validators: z.array(OwnRewards) }).exactOptional(),
});
export type Validators = z.infer<typeof Validators>;

export const NO_VALIDATORS: Validators = { validators: [], duties: [], rewards: [], committees: [] };
