import { ENDPOINTS } from '../api/endpoints.ts';
import { isFailure, RequestFailed } from '../api/errors.ts';
import type { Ledger } from '../budget/ledger.ts';
import { BudgetClosed } from '../budget/permit.ts';
import { sourceId } from '../scheduler/entry.ts';
import type { Schedule, Wait } from '../scheduler/schedules.ts';
import type { Pace, Source, SourceEvent } from '../sources/source.ts';
import { LIMITS } from '../status-page/headline.ts';
import { formatDuration, MS_PER_HOUR } from '../toolkit/lib/duration.ts';
import type { Logger } from '../toolkit/lib/log.ts';
import type { MonotonicMs } from '../toolkit/lib/time.ts';

type Key = Ledger['key'];

const HOW_TO_SET = 'in api.key or api.key_file and reload, or in BEACONCHAIN_API_KEY and restart';

/** What happened, and what to do. */
const KEY_REFUSED = {
  refused: [
    'the API key is refused',
    `create or renew a key at beaconcha.in and set it ${HOW_TO_SET}; the key is tried again after a minute, then every 10 minutes`,
  ],
  revoked: [
    'access is revoked',
    `the trial is over or the subscription was cancelled: renew it at beaconcha.in, then restart or reload at least 10 minutes after the refusal; or set another key ${HOW_TO_SET}; no requests are sent until then`,
  ],
} as const;

const COVERAGE: Readonly<Record<Pace['coverage'], string>> = {
  full: '',
  finalized: ' (no head passes)',
  sampled: ' (newest finalized epoch only, the others are skipped)',
};

const MESSAGES = {
  missed_proposal: 'watched validator missed a proposal',
  names_unreadable: 'names of slashed proposers cannot be read',
  members_unknown: 'seats are not counted, because the members are not known',
  epochs_skipped: 'finalized epochs skipped',
  blocks_tied: 'two blocks of a slot are reported as canonical: the first is counted',
  finality_back: 'finalized epoch went back',
  part_refused: 'the service refuses a part of a source',
} as const satisfies Partial<Record<SourceEvent['type'], string>>;

const READ_IN_PART = 'machine metrics were read only in part';
const MACHINE_WARNINGS: Readonly<Record<string, string>> = {
  network_counters_fell: 'network counters withheld',
  name_shared: 'several hosts report under one machine name, give each host a name of its own',
};

/** The ratio by which an interval must change to be logged. */
const MATERIAL_RATIO = 1.25;

/** Logs a change once, however often it is reported. */
export class EventLog {
  readonly #log: Logger;
  /** The value that was noted last under each key. */
  readonly #logged = new Map<string, string | undefined>();
  #plan: { readonly at: MonotonicMs; readonly paces: ReadonlyMap<string, Pace> } | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The operator starts or reloads the program: conditions that still hold are logged again. */
  begin(key: Key): void {
    const wasRefused = this.#logged.get('key') !== undefined;
    this.#logged.clear();
    this.#plan = undefined;
    // The response to the next request is logged instead.
    if ((key.standing === 'revoked' && key.mayProbe) || (wasRefused && key.standing === 'unknown'))
      this.#logged.set('key', 'unknown');
    else this.keyRefused(key);
  }

  /** Called when the refusal is written, so that it survives a kill, or cannot be written. */
  keyRefused({ standing, since }: Key): void {
    if ((standing !== 'refused' && standing !== 'revoked') || !this.#hasChanged('key', standing)) return;
    const [message, help] = KEY_REFUSED[standing];
    this.#log.error({ since: new Date(since).toISOString(), help }, message);
  }

  /** The ledger has changed: the service may accept the key by now. */
  keySeen({ standing }: Key): void {
    if (standing === 'valid' && this.#hasChanged('key', undefined))
      this.#log.info('the service accepts the API key again');
  }

  /** A poll has ended. The first failure of a kind is logged, and the success after failures. */
  polled(source: Source, failure: Error | undefined): void {
    const { name, chain } = source;
    const fields = { source: name, chain, err: failure?.message };
    const reason = failure instanceof RequestFailed ? failure.reason : failure?.name;
    // These concern all sources, and have a line of their own.
    const isShared = failure instanceof BudgetClosed || isFailure(failure, 'unauthorized', 'revoked');
    const isNew = !isShared && this.#hasChanged(`failure of ${sourceId(source)}`, reason);
    if (!failure && isNew) this.#log.info(fields, 'poll succeeded again');
    else if (!failure) this.#log.debug(fields, 'polled');
    else this.#log[isNew ? 'warn' : 'debug']({ ...fields, help: helpOn(failure) }, 'poll failed');
  }

  /** An event of a poll whose value is saved. The slashing of a watched validator is an error. */
  found({ name, chain }: Source, event: SourceEvent): void {
    const { type, ...fields } = event;
    const isOurs = event.type === 'slashing' && event.watched > 0;
    this.#log[isOurs ? 'error' : 'warn']({ source: name, chain, ...fields }, lineFor(event));
  }

  /** Logs waits when another source waits, and the plan when an interval has changed by much, at most once an hour. */
  scheduled(schedules: ReadonlyMap<Source, Schedule>, now: MonotonicMs): void {
    const all = [...schedules].map(([source, schedule]) => ({ id: sourceId(source), source, ...schedule }));
    this.#logWaits(new Map(all.flatMap(({ id, wait }) => (wait ? [[id, wait]] : []))));
    const running = all.filter(({ wait }) => !wait);
    if (running.length === 0 || (this.#plan && now - this.#plan.at < MS_PER_HOUR)) return;
    const { paces = new Map<string, Pace>() } = this.#plan ?? {};
    if (!running.some(({ id, pace }) => isMaterial(paces.get(id), pace))) return;
    this.#plan = { at: now, paces: new Map([...paces, ...running.map(({ id, pace }) => [id, pace] as const)]) };
    this.#logPlan(running);
  }

  #logWaits(waits: ReadonlyMap<string, Wait>): void {
    if (!this.#hasChanged('waits', waits.size > 0 ? [...waits.keys()].join() : undefined) || waits.size === 0) return;
    const described = [...waits].map(([id, { limit, until }]) => [
      id,
      `${LIMITS[limit]}, until ${new Date(until).toISOString()}`,
    ]);
    this.#log.warn({ waits: Object.fromEntries(described) }, 'sources wait for the quota');
  }

  /** One line for the whole plan: the interval of each source, and the cost. */
  #logPlan(running: readonly { readonly id: string; readonly source: Source; readonly pace: Pace }[]): void {
    const intervals = Object.fromEntries(running.map(({ id, pace }) => [id, describePace(pace)]));
    const perDay = Math.ceil(running.reduce((sum, { pace }) => sum + pace.requestsPerDay, 0));
    const fields = { intervals, requests_per_day: perDay };
    const isStretched = running.some(({ source, pace }) => pace.intervalMs > source.intervalMs);
    if (isStretched)
      this.#log.warn(fields, 'the budget does not allow the configured intervals: intervals are stretched');
    else this.#log.info(fields, 'the budget allows the configured intervals');
  }

  /** Notes the value of this key, and returns whether it differs from the one before. */
  #hasChanged(key: string, value: string | undefined): boolean {
    if (this.#logged.get(key) === value) return false;
    this.#logged.set(key, value);
    return true;
  }
}

function isMaterial(before: Pace | undefined, { intervalMs, coverage }: Pace): boolean {
  if (before?.coverage !== coverage) return true;
  const ratio = intervalMs / before.intervalMs;
  return ratio >= MATERIAL_RATIO || ratio <= 1 / MATERIAL_RATIO;
}

function describePace({ intervalMs, coverage }: Pace): string {
  return `${formatDuration(Math.round(intervalMs / 1000) * 1000)}${COVERAGE[coverage]}`;
}

function helpOn(failure: Error): string | undefined {
  if (!isFailure(failure, 'forbidden')) return undefined;
  const next = ENDPOINTS[failure.endpoint].part
    ? 'If it is refused again, at least ten minutes later, this part of the source is off for a day'
    : 'Or set enabled: false for this source. Until then it is tried again every hour';
  return `the plan of the account may not include this endpoint. See beaconcha.in/pricing. ${next}`;
}

function lineFor(event: SourceEvent): string {
  if (event.type === 'sweep_warning') return MACHINE_WARNINGS[event.reason] ?? READ_IN_PART;
  if (event.type !== 'slashing') return MESSAGES[event.type];
  if (event.watched > 0) return 'watched validator slashed';
  return event.kind === 'proposer' ? 'proposer slashing' : 'attester slashing';
}
