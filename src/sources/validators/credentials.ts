import { CREDENTIAL_TYPES, type CredentialType } from '../../api/answers/validators.ts';
import { type Chain, epochTime, explorerUrl } from '../../facts/chain.ts';
import { groupLabel, type WatchedGroup, watchedGroupOf } from '../../facts/groups.ts';
import type { Identifier } from '../../facts/watch.ts';
import type { Family } from '../../toolkit/exposition/family.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { listed, plural } from '../../toolkit/lib/words.ts';
import { firingIf } from '../conditions.ts';
import { type Linked, type Notice, notice, type Table, time } from '../content.ts';
import { family, sample } from '../families.ts';
import type { SourceEvent } from '../read.ts';
import { FIRING_MS, validatorLabels } from '../slashed.ts';
import { MAX_NAMED } from './options.ts';
import { type Credentials, type CredentialsChange, identifierOf, isIndexed, type Validator } from './state.ts';

/**
 * Pure. The credentials after a response, which is not older than the one before. On chain the type only rises (api-facts 10.1): a type
 * that falls and rises again is a fault of the service, and no change.
 */
export function credentialsAfter(
  read: Credentials | undefined,
  before: Credentials | undefined,
  epoch: number,
): Credentials | undefined {
  if (!read || !before) return read ?? before;
  const { type, address } = read;
  if (type === before.type) return { ...before, address: address ?? before.address, unconfirmed: undefined };
  const { unconfirmed, changes, highest: from = before.type } = before;
  if (unconfirmed?.to !== type) return { ...before, unconfirmed: { from, to: type, address, epoch } };
  const change = { ...unconfirmed, address: address ?? unconfirmed.address };
  const now = { type, address: change.address };
  return CREDENTIAL_TYPES.indexOf(type) > CREDENTIAL_TYPES.indexOf(from)
    ? { ...now, changes: { ...changes, [meaningOf(change)]: change } }
    : { ...now, changes, highest: from };
}

/** 0x00 to 0x02 passed 0x01, which matters more (api-facts 10.1). */
function meaningOf({ from, to }: CredentialsChange): CredentialType {
  return from === '0x00' && to === '0x02' ? '0x01' : to;
}

/** The change that a response has confirmed, if any. */
export function changeEvents(
  validator: Identifier,
  after: Credentials | undefined,
  before: Credentials | undefined,
): SourceEvent[] {
  const known = Object.values(before?.changes ?? {});
  const fresh = Object.values(after?.changes ?? {}).filter((change) => !known.includes(change));
  return fresh.map((change) => ({
    type: meaningOf(change) === '0x01' ? 'withdrawal_address_set' : 'credentials_changed',
    validator,
    ...change,
  }));
}

interface Changed extends CredentialsChange {
  readonly validator: number;
}

function changesOf(validators: readonly Validator[]): Changed[] {
  const all = validators
    .filter(isIndexed)
    .flatMap(({ index: validator, credentials }) =>
      Object.values(credentials?.changes ?? {}).map((change): Changed => ({ validator, ...change })),
    );
  return all.sort((a, b) => b.epoch - a.epoch || a.validator - b.validator);
}

/** Known credentials stay known. A group without known credentials has no count. */
export function credentialFamilies(
  chain: Chain,
  groups: readonly WatchedGroup[],
  validators: readonly Validator[],
): Family[] {
  const byGroup = Map.groupBy(validators, (one) => watchedGroupOf(groups, identifierOf(one)));
  const shown = groups.filter((one) => byGroup.get(one)?.some(({ credentials }) => credentials));
  const changes = changesOf(validators);
  return [
    family(
      'watched_validators_by_credentials',
      'Watched validators by type of their last known withdrawal credentials (data[].withdrawal_credentials.prefix)',
      shown.flatMap((one) =>
        CREDENTIAL_TYPES.flatMap((type) => {
          const count = byGroup.get(one)?.filter(({ credentials }) => credentials?.type === type).length ?? 0;
          return sample(chain, count, { ...groupLabel(one.group), type });
        }),
      ),
    ),
    family(
      'watched_validator_credentials_changed_timestamp_seconds',
      `Start of the epoch of the first response with another type of withdrawal credentials, which a second response confirmed. Only the ${MAX_NAMED} newest per chain and type`,
      // Per type, so that many that compound do not hide one that got an address.
      CREDENTIAL_TYPES.flatMap((type) => {
        const ofType = changes.filter((one) => meaningOf(one) === type).slice(0, MAX_NAMED);
        return ofType.flatMap(({ validator, epoch }) =>
          sample(chain, epochTime(chain, epoch), { ...validatorLabels(groups, validator), type }),
        );
      }),
    ),
  ];
}

/** As in the alert rules: changes of the last week. */
export function credentialNotices(chain: Chain, validators: readonly Validator[], now: UnixMs): Notice[] {
  const recent = changesOf(validators).filter(({ epoch }) => now - epochTime(chain, epoch) * 1000 < FIRING_MS);
  const { set = [], others = [] } = Object.groupBy(recent, (one) => (meaningOf(one) === '0x01' ? 'set' : 'others'));
  const [own, rest] = [set, others].map((changes) => changes.map(({ validator }) => validator)) as [number[], number[]];
  const what = `${plural(rest.length, 'watched validator')} of ${chain} changed their withdrawal credentials`;
  const said = { ...notice('neutral', what, `: ${listed(rest)}.`), alert: 'BeaconchainCredentialsChanged' };
  return [...firingIf('BeaconchainCredentialsChanged', own, chain), ...(rest.length > 0 ? [said] : [])];
}

/** The changes with their new addresses. Empty without a change. */
export function credentialTables(chain: Chain, validators: readonly Validator[], now: UnixMs, linked: Linked): Table[] {
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
