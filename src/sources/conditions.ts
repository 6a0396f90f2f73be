import { listed, plural } from '../lib/words.ts';
import type { Notice, Tone } from './content.ts';

/**
 * The numbers `beaconchain:threshold:*` of the rule files in deploy/prometheus for conditions that the page can see by
 * itself. A test compares both.
 */
export const THRESHOLDS = {
  machine_offline_seconds: 600,
  process_forgotten_seconds: 7 * 86_400,
  disk_free_ratio: 0.1,
  memory_used_ratio: 0.8,
  head_lag_slots: 16,
  peers: 10,
  mass_slashing_validators: 25,
  missed_proposals: 3,
  missed_proposals_ratio: 0.1,
  scan_lag_epochs: 12,
  sync_participation_ratio: 0.8,
  finality_lag_epochs: 6,
  daily_return_late_seconds: 6 * 3600,
  source_stale_seconds: 900,
} as const;
export type Threshold = keyof typeof THRESHOLDS;

const TONES = { critical: 'bad', warning: 'warning', info: 'neutral' } as const satisfies Record<string, Tone>;

interface Condition {
  readonly severity: keyof typeof TONES;
  readonly thresholds: readonly Threshold[];
  /** The sentence on the page; gets the names to which it applies. */
  readonly says: (who: readonly string[], detail: string) => string;
}

function condition(
  severity: Condition['severity'],
  says: Condition['says'],
  ...thresholds: readonly Threshold[]
): Condition {
  return { severity, thresholds, says };
}

interface MachineCondition extends Condition {
  /** The text of the badge in the list of machines. */
  readonly badge: string;
}

function machines(
  severity: Condition['severity'],
  words: string,
  badge: string,
  ...thresholds: readonly Threshold[]
): MachineCondition {
  const says: Condition['says'] = (names) => `${plural(names.length, 'machine')} ${words}: ${listed(names)}.`;
  return { ...condition(severity, says, ...thresholds), badge };
}

/** The problems of a machine, the worst first. Named like the alerts. */
export const MACHINE_CONDITIONS = {
  BeaconchainMachineOffline: machines('critical', 'silent', 'silent', 'machine_offline_seconds'),
  BeaconchainBeaconNodeNotSynced: machines('critical', 'not synced', 'not synced'),
  BeaconchainExecutionClientDisconnected: machines('critical', 'without an execution client', 'no execution client'),
  BeaconchainDiskAlmostFull: machines('critical', 'with an almost full disk', 'disk almost full', 'disk_free_ratio'),
  BeaconchainMachineNeverSeen: machines('warning', 'never seen', 'never seen'),
  BeaconchainProcessSilent: machines(
    'warning',
    'partly silent',
    'partly silent',
    'machine_offline_seconds',
    'process_forgotten_seconds',
  ),
  BeaconchainMemoryAlmostFull: machines(
    'warning',
    'with almost full memory',
    'memory almost full',
    'memory_used_ratio',
  ),
  BeaconchainBeaconNodeLagging: machines('warning', 'behind the clock', 'behind the clock', 'head_lag_slots'),
  BeaconchainFewPeers: machines('warning', 'with few peers', 'few peers', 'peers'),
  BeaconchainValidatorsInactive: machines('warning', 'with validators that are not active', 'validators not active'),
  BeaconchainFallbackInUse: machines('warning', 'on a fallback node', 'on a fallback'),
} as const satisfies Record<string, MachineCondition>;
export type MachineAlert = keyof typeof MACHINE_CONDITIONS;
export const MACHINE_ALERTS = Object.keys(MACHINE_CONDITIONS) as MachineAlert[];

/**
 * The alerts for which the page has a notice. An alert fires after some minutes; the page shows the notice immediately.
 */
export const CONDITIONS = {
  ...MACHINE_CONDITIONS,

  BeaconchainWatchedValidatorSlashed: condition(
    'critical',
    (validators, chain) =>
      `${plural(validators.length, 'watched validator')} of ${chain} slashed: ${listed(validators)}.`,
  ),
  BeaconchainValidatorOffline: condition(
    'critical',
    (validators, chain) =>
      `${plural(validators.length, 'watched validator')} of ${chain} offline: ${listed(validators)}.`,
  ),
  BeaconchainValidatorNotFound: condition(
    'warning',
    (validators, chain) =>
      `${plural(validators.length, 'watched validator')} of ${chain} not found by the service: ${listed(validators)}.`,
  ),
  // The page does not know when a proposal was counted, so it covers a day instead of six hours.
  BeaconchainWatchedProposalMissed: condition('warning', (validators, detail) =>
    validators.length === 1
      ? `Watched validator ${validators[0]} ${detail}.`
      : `${plural(validators.length, 'watched validator')} ${detail}: ${listed(validators)}.`,
  ),
  // Covers the last ten proposals, because the page has no others.
  BeaconchainWatchedProposalsMissedOften: condition(
    'critical',
    ([chain], counted) => `Watched validators of ${chain} missed ${counted} proposals in the last day.`,
    'missed_proposals',
    'missed_proposals_ratio',
  ),
  // An hour, and up to another one until the block is final and counted.
  BeaconchainProposerSlashing: condition('warning', ([chain], ago) => `A proposer of ${chain} was slashed ${ago}.`),
  BeaconchainMassSlashing: condition(
    'warning',
    ([chain], counted) => `${counted} of ${chain} slashed within a day.`,
    'mass_slashing_validators',
  ),
  BeaconchainSlashingScanLagging: condition(
    'warning',
    ([chain], lag) => `Slashings of ${chain} are counted late: ${lag} behind finality.`,
    'scan_lag_epochs',
  ),
  // The alert uses the mean of 15 minutes, the page the newest block.
  BeaconchainSyncParticipationLow: condition(
    'warning',
    ([chain], share) => `Sync committee participation of ${chain} is low: ${share} in the newest block.`,
    'sync_participation_ratio',
  ),
  BeaconchainNoFinality: condition(
    'critical',
    ([chain], lag) => `${chain} is not finalizing: finality is ${lag} behind.`,
    'finality_lag_epochs',
  ),
  BeaconchainDailyReturnLate: condition(
    'warning',
    ([chain], late) => `The daily return of ${chain} is late by ${late}.`,
    'daily_return_late_seconds',
  ),

  BeaconchainApiKeyInvalid: condition('critical', (_, detail) => detail),
  BeaconchainAccessRevoked: condition(
    'critical',
    (_, ago) =>
      `The service revoked access ${ago}: the trial is over or the subscription was cancelled. No requests are sent until you set another key or restart the exporter.`,
  ),
  // The page knows only the failures since the last success, so it reports the first one.
  BeaconchainSourceFailing: condition(
    'warning',
    (names, all) => `${names.length} of ${all} failing: ${names.join(', ')}.`,
  ),
  BeaconchainSourceStale: condition(
    'warning',
    (names) => `Overdue: ${names.join(', ')}. Check the log and restart the exporter.`,
    'source_stale_seconds',
  ),
  BeaconchainSourceWaitsForQuota: condition(
    'warning',
    (names, what) => `Waiting for ${what}: ${names.join(', ')}. Stale values are withdrawn, as in an outage.`,
  ),
  BeaconchainConfigReloadFailed: condition(
    'warning',
    () =>
      'The last configuration reload failed. The previous configuration is still in use. See the log for the reason.',
  ),
  BeaconchainStateWriteFailing: condition(
    'critical',
    (_, ago) =>
      `The state could not be written ${ago}. New values are not shown until they are stored. See the log for the reason.`,
  ),

  // Severity info: shown without a colour.
  BeaconchainBudgetStretched: condition(
    'info',
    (changes) => `The budget does not allow the configured intervals: ${changes.join('; ')}.`,
  ),
} as const satisfies Record<string, Condition>;
export type Alert = keyof typeof CONDITIONS;

/** Why the page has no notices for the other alerts of severity critical or warning. */
export const NOT_ON_PAGE = {
  BeaconchainExporterDown: 'is about the scrape: an exporter that is down serves no page',
  BeaconchainNoLeader: 'is about all replicas, and the page shows only one',
  BeaconchainDiskFullSoon: 'needs twelve hours of history',
  BeaconchainCPUBusy: 'needs the rate of a counter',
  BeaconchainManyMissedSlots: 'needs the rate of a counter',
  BeaconchainSyncCommitteeMissed: 'needs the values of an hour ago',
  BeaconchainEpochsSkipped: 'needs the value of an hour ago; the page shows the count under its chain',
  BeaconchainInvalidRecords: 'needs the value of six hours ago',
} as const satisfies Readonly<Record<string, string>>;

/** The notice with the meaning of an alert. */
export function firing(alert: Alert, who: readonly string[], detail = ''): Notice {
  const { severity, says } = CONDITIONS[alert];
  return { tone: TONES[severity], text: says(who, detail), alert };
}

/** The tone of an alert. */
export function toneOf(alert: Alert): Tone {
  return TONES[CONDITIONS[alert].severity];
}
