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
  /** Where withdrawals go. Null if unknown. */
  address: z.string().nullable(),
  /** The epoch of the first response with the new type. */
  epoch: Index,
});
export type CredentialsChange = z.infer<typeof CredentialsChange>;

const Credentials = z.object({
  type: CredentialType,
  address: z.string().nullable(),
  /** The type before it fell, which it cannot on chain. Absent if it has not fallen. */
  highest: CredentialType.optional(),
  /** Seen in one response. The next response confirms or drops it. */
  unconfirmed: CredentialsChange.optional(),
  /** Confirmed changes, the newest of each meaning: `0x01` if it got an address. */
  changes: z.partialRecord(CredentialType, CredentialsChange),
});
export type Credentials = z.infer<typeof Credentials>;

const Validator = z.object({
  /** Absent while the service has no index for its key. */
  index: Index.optional(),
  /** Its public key, if requested by key. */
  key: z.string().optional(),
  status: Status,
  /** Null without duties: neither online nor offline. */
  online: z.boolean().nullable(),
  balance: Wei.nullable(),
  effectiveBalance: Wei.nullable(),
  /** The epoch of the response. */
  epoch: Index,
  /** The last round with a response about it (Unix ms), even one that is older or lacks it. */
  askedAt: z.number(),
  /** The epoch of the first of successive responses that report it as offline. */
  offlineSince: Index.optional(),
  /** The first of successive responses that lack it, while it keeps its values: the epoch, and the time of arrival (Unix ms). */
  missing: z.object({ epoch: Index, at: z.number() }).optional(),
  /** Before this epoch it has no duties. */
  activationEpoch: Index.optional(),
  /** From this epoch on it has no duties. */
  exitEpoch: Index.optional(),
  /** From this epoch on its balance can be withdrawn. */
  withdrawableEpoch: Index.optional(),
  credentials: Credentials.optional(),
  slashed: Slashed.optional(),
  /** Whether the last response reports it as not slashed, and none before as slashed. */
  wasUnslashed: z.boolean().optional(),
});
export type Validator = z.infer<typeof Validator>;

/** A validator with an index. */
export type Indexed = Validator & { readonly index: number };

export function isIndexed(validator: Validator): validator is Indexed {
  return validator.index !== undefined;
}

/** How to request it. */
export function identifierOf({ index, key = '' }: Pick<Validator, 'index' | 'key'>): Identifier {
  return index ?? key;
}

/** A sum of wei over many responses, as a decimal string. */
const Sum = z.string().regex(/^-?\d{1,40}$/);
const PerDuty = z.object({ attestation: Sum.optional(), proposal: Sum.optional(), sync_committee: Sum.optional() });
export type PerDuty = z.infer<typeof PerDuty>;

/** What some validators earned and missed in the last 24 hours. An amount is absent unless known for all of them. */
export const Rewards = z.object({
  /** On the consensus layer, rewards minus penalties. */
  earned: PerDuty,
  missed: PerDuty,
  /** The part of `missed` for each vote of attestations. */
  missedVotes: z.partialRecord(z.enum(VOTES), Sum),
  execution: Sum.optional(),
  penalties: Sum.optional(),
  /** The part of `penalties` for an inactivity leak. */
  leak: Sum.optional(),
  /** The last epoch of the oldest response. */
  epoch: z.number().optional(),
});
export type Rewards = z.infer<typeof Rewards>;

export interface GroupSums<S> {
  /** Its validators, as ranges and the beginnings of keys. */
  readonly watch: string;
  /** The last round with responses about all of it (Unix ms). */
  readonly askedAt: UnixMs;
  /** When the 24 hours of the oldest response ended, at the latest. */
  readonly at: UnixMs;
  readonly sums: S;
}

export type FreshSums<S> = GroupSums<S> & { readonly until: UnixMs };

function sumsOf<S extends z.ZodType>(sums: S) {
  return z.array(z.object({ watch: z.string(), askedAt: z.number(), at: z.number(), sums }));
}

/** The seats of a period, in committee order. One validator can have several. */
const Committee = z.object({ period: Index, seats: z.array(Index) });
export type Committee = z.infer<typeof Committee>;

const Ranges = z.array(z.object({ first: Index, last: Index }));
const Total = z.number().int().nonnegative();
/** A sum that never falls, of counts or of wei, as a decimal string. */
const Counter = z.string().regex(/^\d{1,60}$/);

/** The ledger of the finalized epochs of one part. Each epoch and validator is counted once. */
export const Ledger = z.object({
  /** Every epoch up to this one is counted or skipped. Absent before the start, which is the newest final epoch. */
  cursor: z.number().int().min(-1).exactOptional(),
  /** The counted validators of the epoch after the cursor. */
  done: Ranges,
  /** How long that epoch has been tried since a failed request. */
  triedMs: z.number().exactOptional(),
  /** Validators whose last request about it failed. Requested after the others. */
  failed: Ranges,
  /** Validators whose requests failed until an epoch counted without them. Requested once an epoch. */
  unreadable: Ranges,
  /** When to read again, if not at the next interval: at once, or in a minute because the service lacks the epoch. */
  again: z.enum(['now', 'soon']).exactOptional(),
  /** When reading the last epoch began, or the first look for what is final (Unix ms). */
  begunAt: z.number().exactOptional(),
  /** When a stop longer than `catch_up` ended (Unix ms), until we know what became final during the stop. */
  stoppedUntil: z.number().exactOptional(),
  /** The first epoch to count. A backfill ends before it. */
  first: Index.exactOptional(),
  /** The newest epoch that was counted. */
  counted: Index.exactOptional(),
  skipped: Total,
  /** Validators without which an epoch counted. */
  unread: Total,
  /** The counters by group; `group` is absent for validators of no group. An absent counter is 0. */
  groups: z.array(z.object({ group: z.string().exactOptional(), totals: z.record(z.string(), Counter) })),
});
export type Ledger = z.infer<typeof Ledger>;

/** Index, newest epoch with a duty, misses in the last ten such epochs as bits, all misses, epoch of the last miss. */
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
  /** The counters of each finalized epoch. Absent before the first run of the part. */
  epoch_duties: Ledger.extend({ validators: z.array(OwnDuties) }).exactOptional(),
  epoch_rewards: Ledger.extend({ validators: z.array(OwnRewards) }).exactOptional(),
});
export type Validators = z.infer<typeof Validators>;

export const NO_VALIDATORS: Validators = { validators: [], duties: [], rewards: [], committees: [] };
