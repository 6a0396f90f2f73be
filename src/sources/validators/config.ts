import { watchList } from '../../facts/fields.ts';
import { duration, flag, optional, SECOND, section } from '../../toolkit/yaml/fields.ts';
import type { Finding } from '../../toolkit/yaml/mistakes.ts';

const part = flag.prefault(true);

export const schema = optional(
  section({
    watch: watchList.describe(
      'Your validators, by index. If several chains are configured, set one list per chain. Those of `groups` are watched too. Without any, the other keys have no effect.',
    ),
    proposer_slashings: part.describe(
      'Also read who was slashed as a proposer: one request for each block with a proposer slashing. Requires slashings.',
    ),
    sync_committee: part.describe(
      'Also read which of them are in the current and the next sync committee, and count their seats in each block. Counting requires slashings.',
    ),
    status: part.describe('Also read who is online, their status and balances, and the duties of the last 24 hours.'),
    rewards: part.describe(
      'Also read what they earned and missed in the last 24 hours. It comes with the status, so it requires status.',
    ),
    interval: duration(SECOND)
      .prefault('384s')
      .describe('The polling interval of the status, an epoch by default: the service computes it once an epoch.'),
  }).transform(({ proposer_slashings, sync_committee, interval, ...others }) => ({
    ...others,
    proposerSlashings: proposer_slashings,
    syncCommittee: sync_committee,
    intervalMs: interval,
  })),
).describe('Your validators. See docs/validators.md.');

export const lists = ['validators.watch', 'groups.*.validators'];

interface Watching {
  readonly slashings: { readonly enabled: boolean };
  readonly validators: Readonly<Record<'enabled' | 'status' | 'syncCommittee', boolean>>;
}

export function doubts({ slashings, validators: { enabled, status, syncCommittee } }: Watching): Finding[] {
  if (!enabled || slashings.enabled || status || syncCommittee) return [];
  const message = 'has no effect, because every part is off and slashings.enabled is false';
  return [{ path: ['validators', 'watch'], message }];
}
