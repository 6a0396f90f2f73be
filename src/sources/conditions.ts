import { listed, plural } from '../toolkit/lib/words.ts';
import { type Notice, notice, type Tone } from './content.ts';

/** `beaconchain:threshold:*` of the rules in deploy/prometheus. A test compares both. */
export const THRESHOLDS = {
  machine_offline_seconds: 600,
  silent_together_seconds: 86_400,
  process_forgotten_seconds: 7 * 86_400,
  disk_free_ratio: 0.1,
  head_lag_slots: 16,
  source_stale_seconds: 900,
  clock_offset_seconds: 60,
} as const;

const TONES = { critical: 'bad', warning: 'warning', info: 'neutral' } as const satisfies Record<string, Tone>;

interface Condition {
  readonly severity: keyof typeof TONES;
  /** What is wrong, and the rest of the text: who is affected and what to do. */
  readonly says: (who: readonly (string | number)[], detail: string) => readonly [what: string, rest: string];
}

function condition(severity: Condition['severity'], says: Condition['says']): Condition {
  return { severity, says };
}

/** Applies when a value compares like this, with the operators of PromQL. */
interface MachineCondition<V> extends Condition {
  /** Its name. The value is in seconds or slots, a share or a count; a boolean is 0 or 1. */
  readonly value: V;
  readonly is: '<' | '==' | '>';
  readonly than: number | keyof typeof THRESHOLDS;
  /** The text of the badge in the list of machines. */
  readonly badge: string;
}

function machines<V extends string>(
  severity: Condition['severity'],
  [value, is, than]: readonly [V, MachineCondition<V>['is'], MachineCondition<V>['than']],
  words: string,
  badge = words,
): MachineCondition<V> {
  const says: Condition['says'] = (names) => [`${plural(names.length, 'machine')} ${words}`, `: ${listed(names)}.`];
  return { severity, value, is, than, badge, says };
}

function watched(severity: Condition['severity'], words: string): Condition {
  return {
    severity,
    says: (validators, chain) => [
      `${plural(validators.length, 'validator')} ${words} on ${chain}`,
      `: ${listed(validators)}.`,
    ],
  };
}

/**
 * The problems of a machine, the worst first, named like the alerts. The page compares records, the dashboards compare families. A test
 * holds the rules to the same comparisons.
 */
export const MACHINE_CONDITIONS = {
  BeaconchainMachineOffline: machines('critical', ['silence', '>', 'machine_offline_seconds'], 'silent'),
  BeaconchainBeaconNodeNotSynced: machines('critical', ['unsynced_lag', '>', 'head_lag_slots'], 'not synced'),
  BeaconchainExecutionClientDisconnected: machines(
    'critical',
    ['execution_connected', '==', 0],
    'without an execution client',
    'no execution client',
  ),
  BeaconchainDiskAlmostFull: machines(
    'critical',
    ['disk_free', '<', 'disk_free_ratio'],
    'with an almost full disk',
    'disk almost full',
  ),
  BeaconchainMachineNeverSeen: machines('warning', ['last_seen', '==', 0], 'never seen'),
  BeaconchainProcessSilent: machines('warning', ['process_silence', '>', 'machine_offline_seconds'], 'partly silent'),
  BeaconchainMachineNameShared: machines(
    'warning',
    ['name_shared', '==', 1],
    'whose name several hosts use (give each host a name of its own)',
    'name shared',
  ),
  BeaconchainMachineClockWrong: machines('warning', ['clock_ahead', '>', 0], 'whose clock is fast', 'clock fast'),
  BeaconchainBeaconNodeLagging: machines('warning', ['head_lag', '>', 'head_lag_slots'], 'behind the clock'),
  BeaconchainValidatorsInactive: machines(
    'warning',
    ['inactive_validators', '>', 0],
    'with validators that are not active',
    'validators not active',
  ),
};
export type MachineAlert = keyof typeof MACHINE_CONDITIONS;
export type MachineValue = (typeof MACHINE_CONDITIONS)[MachineAlert]['value'];
export const MACHINE_ALERTS = Object.keys(MACHINE_CONDITIONS) as MachineAlert[];

/** The alerts with a notice on the page, the most urgent first. Alerts fire after some minutes, notices appear at once. */
export const CONDITIONS = {
  BeaconchainWatchedValidatorSlashed: watched('critical', 'slashed'),
  // A switch to compounding is no problem: the page has a separate notice.
  BeaconchainCredentialsChanged: condition('critical', (validators, chain) => [
    `${plural(validators.length, 'validator')} got a withdrawal address on ${chain}`,
    `: ${listed(validators)}. If you did not sign this, somebody has your mnemonic.`,
  ]),
  BeaconchainValidatorOffline: watched('critical', 'offline'),
  BeaconchainAllMachinesSilent: condition('critical', (_, of) => [
    `All machines${of} are silent`,
    '. Is your site down?',
  ]),
  BeaconchainGroupSilent: condition('critical', (groups) => [
    `All machines of ${plural(groups.length, 'group')} are silent`,
    `: ${listed(groups)}. Is the site down?`,
  ]),
  ...MACHINE_CONDITIONS,
  // The page does not know how the network did.
  BeaconchainValidatorMissesAttestations: watched('warning', 'missing attestations'),
  BeaconchainValidatorNotFound: watched('warning', 'not found by the service'),
  // The page does not know when a proposal was counted, so it covers a day instead of six hours.
  BeaconchainWatchedProposalMissed: watched('warning', 'missed a proposal in the last day'),

  BeaconchainFeeRecipientUnexpected: watched('critical', 'paid an address outside validators.fee_recipients'),

  BeaconchainApiKeyInvalid: condition('critical', (advice, what) => [what, ['.', ...advice].join(' ')]),
  BeaconchainAccessRevoked: condition('critical', ([from], ago) => [
    `The service revoked access ${ago}`,
    `: the trial is over or the subscription was cancelled. Set another key, or renew the plan: a restart or reload from ${from} on asks again.`,
  ]),
  // The page knows only the failures since the last success, so it shows one from the first failure on.
  BeaconchainSourceFailing: condition('warning', (names, all) => [
    `${names.length} of ${all} failing`,
    `: ${names.join(', ')}.`,
  ]),
  BeaconchainPartRefused: condition('warning', (parts) => [
    `The service refuses ${listed(parts)}`,
    '. The exporter asks again after a day, a reload or a restart. Choose a plan that includes it, or switch it off.',
  ]),
  BeaconchainServiceBehind: condition('warning', (names, age) => [
    `The service is behind: its data are ${age} old`,
    `: ${names.join(', ')}. Values that are too old are withdrawn. Only the service can fix this.`,
  ]),
  BeaconchainSourceStale: condition('warning', (names) => [
    'Polls are overdue',
    `: ${names.join(', ')}. Check the log and restart the exporter.`,
  ]),
  BeaconchainSourceWaitsForQuota: condition('warning', (names, what) => [
    `Waiting for ${what}`,
    `: ${names.join(', ')}. Stale values are withdrawn, as in an outage.`,
  ]),
  BeaconchainConfigReloadFailed: condition('warning', (reasons) => [
    'The last configuration reload failed',
    `. The previous configuration is still in use. The reason: ${reasons.join()}`,
  ]),
  BeaconchainStateWriteFailing: condition('critical', (_, ago) => [
    `The state could not be written ${ago}`,
    '. New values are not shown until they are stored. See the log for the reason.',
  ]),
  BeaconchainClockWrong: condition('warning', (_, detail) => [
    `The exporter's clock is ${detail}`,
    ". Ages follow the service's clock, unless that is over a day off or contradicts itself. Set up NTP on the exporter's host.",
  ]),
  BeaconchainBudgetStretched: condition('info', (changes) => [
    'Intervals stretched to stay within the limits',
    `: ${changes.join('; ')}.`,
  ]),
} as const satisfies Record<string, Condition>;
export type Alert = keyof typeof CONDITIONS;

export function firing(alert: Alert, who: readonly (string | number)[], detail = ''): Notice {
  const { severity, says } = CONDITIONS[alert];
  return { ...notice(TONES[severity], ...says(who, detail)), alert };
}

/** A notice if the alert applies to anybody. */
export function firingIf(alert: Alert, who: readonly (string | number)[], detail?: string): Notice[] {
  return who.length > 0 ? [firing(alert, who, detail)] : [];
}

export function toneOf(alert: Alert): Tone {
  return TONES[CONDITIONS[alert].severity];
}
