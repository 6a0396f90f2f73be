import * as z from 'zod';
import { Address, type ListedFiles, type WatchPerChain, watchList } from '../../facts/fields.ts';
import { readWatchFile, WatchFile } from '../../facts/watch-file.ts';
import { duration, flag, optional, SECOND, section } from '../../toolkit/yaml/fields.ts';
import type { Finding } from '../../toolkit/yaml/mistakes.ts';

const part = flag.prefault(true);

/** The path, in place of which the loader puts the content. */
const watchFile = z
  .custom<string | WatchFile>((value) => value instanceof WatchFile || (typeof value === 'string' && value !== ''), {
    error: 'expected the path of a file',
  })
  .transform((value) => (value instanceof WatchFile ? value.items : []))
  .meta({ type: 'string', minLength: 1 });

export const schema = optional(
  section({
    watch: watchList.describe(
      'Your validators, by index or public key. With two chains, indices need one list per chain. Those of `groups` and `watch_files` are watched too.',
    ),
    watch_files: z
      .array(watchFile, { error: 'a list of paths' })
      .prefault([])
      .describe(
        'Files with one index, range or public key a line, or deposit_data-*.json of the deposit tool. A reload reads them again.',
      ),
    proposer_slashings: part.describe('Read who was slashed as a proposer. Requires slashings.'),
    sync_committee: part.describe(
      'Read who is in this and the next sync committee, and count the seats that signed. Counting requires slashings.',
    ),
    status: part.describe('Read who is online, status, balances, and duties of the last 24 hours.'),
    rewards: part.describe('Read what they earned and missed in the last 24 hours. Requires status.'),
    interval: duration(SECOND)
      .prefault('384s')
      .describe('The polling interval of the status, which the service computes once an epoch.'),
    epochs: z
      .union([z.literal('auto'), flag], { error: 'auto, true or false' })
      .prefault('auto')
      .describe(
        'Count what they did and earned in every finalized epoch. auto: while that takes at most a quarter of the limits, and never with a quota of a month. Requires slashings.',
      ),
    catch_up: duration(0).prefault('7d').describe('How far back `epochs` reads after a stop.'),
    series: z
      .int({ error: 'a whole number' })
      .nonnegative({ error: 'a whole number' })
      .prefault(100)
      .describe('The number of validators of a chain that have counters of their own.'),
    block_rewards: part.describe('Read what their blocks earned on the execution layer. Requires slashings.'),
    fee_recipients: z
      .array(Address, { error: 'a list of addresses such as ["0x…"]' })
      .prefault([])
      .describe(
        'The addresses that their blocks may pay. If there are any, a block that pays another one fires an alert. Requires block_rewards.',
      ),
  }).transform(
    ({ proposer_slashings, sync_committee, interval, catch_up, block_rewards, fee_recipients, ...others }) => ({
      ...others,
      catchUpMs: catch_up,
      blockRewards: block_rewards,
      feeRecipients: fee_recipients,
      proposerSlashings: proposer_slashings,
      syncCommittee: sync_committee,
      intervalMs: interval,
    }),
  ),
).describe('Your validators: docs/validators.md.');

export const lists = ['validators.watch', 'groups.*.validators'];

export const files: ListedFiles = { path: ['validators', 'watch_files'], read: readWatchFile };

interface Watching {
  readonly slashings: { readonly enabled: boolean };
  readonly validators: Readonly<Record<'enabled' | 'status' | 'syncCommittee' | 'blockRewards', boolean>> &
    Pick<WatchPerChain, 'keys'> & { readonly feeRecipients: readonly string[]; readonly epochs: boolean | 'auto' };
}

export function doubts({ slashings, validators }: Watching): Finding[] {
  const { enabled, status, syncCommittee, blockRewards, feeRecipients, epochs, keys } = validators;
  if (!status && Object.values(keys).some((one) => one.length > 0))
    return [{ path: ['validators', 'status'], message: 'false, so the indices of the public keys are not found' }];
  if (!enabled) return [];
  const without = (key: string, why: string): Finding[] => [
    { path: ['validators', key], message: `has no effect, because ${why} is false` },
  ];
  if (slashings.enabled)
    return feeRecipients.length > 0 && !blockRewards ? without('fee_recipients', 'validators.block_rewards') : [];
  if (!status && !syncCommittee) return without('watch', 'every part is off and slashings.enabled');
  return [
    ...(epochs === false ? [] : without('epochs', 'slashings.enabled')),
    ...(blockRewards ? without('block_rewards', 'slashings.enabled') : []),
  ];
}
