import { CREDENTIAL_TYPES, type CredentialType } from '../../api/answers/validators.ts';
import { type Chain, epochTime, explorerUrl } from '../../facts/chain.ts';
import { groupLabel, type WatchedGroup, watchedGroupOf } from '../../facts/groups.ts';
import type { Family } from '../../toolkit/exposition/family.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { listed, plural } from '../../toolkit/lib/words.ts';
import { firingIf } from '../conditions.ts';
import { type Linked, type Notice, notice, type Table, time } from '../content.ts';
import { family, sample } from '../families.ts';
import type { SourceEvent } from '../read.ts';
import { FIRING_MS, validatorLabels } from '../slashed.ts';
import type { Credentials, CredentialsChange } from './state.ts';

/** Two changes are possible: 0x00 to 0x01, and 0x01 to 0x02 (api-facts 10.1). */
const MAX_CHANGES = 2;
const MAX_NAMED = 100;

/** Pure. What is known after an answer of an epoch, which is not older than the one before. */
export function credentialsAfter(
  read: Credentials | undefined,
  before: Credentials | undefined,
  epoch: number,
): Credentials | undefined {
  if (!read || !before) return read ?? before;
  const { type, address } = read;
  if (type === before.type) return { ...before, address: address ?? before.address, unconfirmed: undefined };
  const { unconfirmed } = before;
  if (unconfirmed?.to !== type) return { ...before, unconfirmed: { from: before.type, to: type, address, epoch } };
  const change = { ...unconfirmed, address: address ?? unconfirmed.address };
  return { type, address: change.address, changes: [...before.changes, change].slice(-MAX_CHANGES) };
}

/** The types that a change sets. From 0x00 to 0x02 there was a 0x01 in between. */
function typesOf({ from, to }: CredentialsChange): readonly CredentialType[] {
  return from === '0x00' && to === '0x02' ? ['0x01', '0x02'] : [to];
}

function setsAddress(change: CredentialsChange): boolean {
  return typesOf(change).includes('0x01');
}

/** The change that an answer has confirmed, if there is one. */
export function changeEvent(
  validator: number,
  after: Credentials | undefined,
  before: Credentials | undefined,
): SourceEvent[] {
  const change = after?.changes.at(-1);
  if (!change || change === before?.changes.at(-1)) return [];
  return [{ type: setsAddress(change) ? 'withdrawal_address_set' : 'credentials_changed', validator, ...change }];
}

/** A watched validator. */
interface Own {
  readonly index: number;
  readonly credentials?: Credentials | undefined;
}

interface Changed extends CredentialsChange {
  readonly validator: number;
}

function changesOf(validators: readonly Own[]): Changed[] {
  const all = validators.flatMap(({ index: validator, credentials }) =>
    (credentials?.changes ?? []).map((change): Changed => ({ validator, ...change })),
  );
  return all.sort((a, b) => b.epoch - a.epoch || a.validator - b.validator);
}

/** Known credentials stay known. Of a group of which none are known there is no count. */
export function credentialFamilies(
  chain: Chain,
  groups: readonly WatchedGroup[],
  validators: readonly Own[],
): Family[] {
  const byGroup = Map.groupBy(validators, ({ index }) => watchedGroupOf(groups, index));
  const shown = groups.filter((one) => byGroup.get(one)?.some(({ credentials }) => credentials));
  return [
    family(
      'watched_validators_by_credentials',
      'Number of watched validators by type of their withdrawal credentials, as last known (data[].withdrawal_credentials.prefix)',
      shown.flatMap((one) =>
        CREDENTIAL_TYPES.flatMap((type) => {
          const count = byGroup.get(one)?.filter(({ credentials }) => credentials?.type === type).length ?? 0;
          return sample(chain, count, { ...groupLabel(one.group), type });
        }),
      ),
    ),
    family(
      'watched_validator_credentials_changed_timestamp_seconds',
      `Start of the epoch of the first answer with another type of withdrawal credentials; a second answer has confirmed it. Limited to the ${MAX_NAMED} newest changes per chain`,
      changesOf(validators)
        .slice(0, MAX_NAMED)
        .flatMap((change) =>
          typesOf(change).flatMap((type) =>
            sample(chain, epochTime(chain, change.epoch), { ...validatorLabels(groups, change.validator), type }),
          ),
        ),
    ),
  ];
}

/** As in the alert rules: changes of the last week. */
export function credentialNotices(chain: Chain, validators: readonly Own[], now: UnixMs): Notice[] {
  const recent = changesOf(validators).filter(({ epoch }) => now - epochTime(chain, epoch) * 1000 < FIRING_MS);
  const [set, others] = [recent.filter(setsAddress), recent.filter((change) => !setsAddress(change))];
  const what = `${plural(others.length, 'watched validator')} of ${chain} changed their withdrawal credentials`;
  const rest = `: ${listed(others.map(({ validator }) => validator))}.`;
  return [
    ...firingIf(
      'BeaconchainCredentialsChanged',
      set.map(({ validator }) => validator),
      chain,
    ),
    ...(others.length > 0 ? [{ ...notice('neutral', what, rest), alert: 'BeaconchainCredentialsChanged' }] : []),
  ];
}

/** The changes with their new addresses. No table without one. */
export function credentialTables(chain: Chain, validators: readonly Own[], now: UnixMs, linked: Linked): Table[] {
  const changes = changesOf(validators);
  if (changes.length === 0) return [];
  return [
    {
      title: 'Changed withdrawal credentials',
      columns: ['Validator', 'Chain', 'Time', 'Change', 'Withdrawals go to'],
      rows: changes.map(({ validator, from, to, address, epoch }) => [
        linked(`${validator}`, explorerUrl(chain, 'validator', validator)),
        chain,
        time(epochTime(chain, epoch) * 1000, now),
        `${from} to ${to}`,
        address ?? 'not known',
      ]),
      size: changes.length,
      shown: 5,
      empty: '',
    },
  ];
}
