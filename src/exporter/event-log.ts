import type { Endpoint } from '../api/endpoints.ts';
import { isFailure, RequestFailed } from '../api/errors.ts';
import type { Odd } from '../api/reading.ts';
import type { Ledger } from '../budget/ledger.ts';
import { BudgetClosed } from '../budget/permit.ts';
import { sourceId } from '../scheduler/entry.ts';
import { partOf } from '../scheduler/refusals.ts';
import { type Ended, PART_REFUSED, READ_ENDED } from '../scheduler/round.ts';
import { type QuotaWait, requestsPerDay, type Schedule } from '../scheduler/schedules.ts';
import type { EventTable, Read, SourceEvent } from '../sources/read.ts';
import type { Source } from '../sources/source.ts';
import { LIMITS } from '../status-page/headline.ts';
import { formatSeconds, MS_PER_HOUR } from '../toolkit/lib/duration.ts';
import type { Logger } from '../toolkit/lib/log.ts';
import type { Milliseconds, MonotonicMs } from '../toolkit/lib/time.ts';

type Key = Ledger['key'];

const HOW_TO_SET = 'in api.key or api.key_file and reload, or in BEACONCHAIN_API_KEY and restart';

const KEY_REFUSED = {
  refused: [
    'the service refuses the API key',
    `create or renew a key at beaconcha.in and set it ${HOW_TO_SET}; the exporter tries the key again after a minute, then every 10 minutes`,
  ],
  revoked: [
    'the service revoked access',
    `the trial is over or the subscription was cancelled: renew it at beaconcha.in, then restart or reload at least 10 minutes after the refusal; or set another key ${HOW_TO_SET}; until then the exporter sends no requests`,
  ],
} as const;

const KERNEL_EVENTS: EventTable = {
  [PART_REFUSED]: { level: 'warn', message: 'the service refuses a part of a source' },
  [READ_ENDED]: { level: 'warn', message: '404 for an hour where the service had data before: polling once an hour' },
};

/** The ratio by which an interval must change to be logged. */
const MATERIAL_RATIO = 1.25;

/** Logs each change once, however often its caller reports it. */
export class EventLog {
  readonly #log: Logger;
  /** The last value under each key. */
  readonly #logged = new Map<string, string | undefined>();
  #plan: { readonly at: MonotonicMs; readonly paces: ReadonlyMap<string, LoggedPace> } | undefined;

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

  /** Called after the refusal was written, so that a kill does not log it twice, or after the write failed. */
  keyRefused({ standing, since }: Key): void {
    if ((standing !== 'refused' && standing !== 'revoked') || !this.#hasChanged('key', standing)) return;
    const [message, help] = KEY_REFUSED[standing];
    this.#log.error({ since: new Date(since).toISOString(), help }, message);
  }

  /** Called when the ledger has changed. */
  keySeen({ standing }: Key): void {
    if (standing === 'valid' && this.#hasChanged('key', undefined))
      this.#log.info('the service accepts the API key again');
  }

  /** Called at the end of each read. Logs the first failure of a kind, and the first success after failures. */
  ran(source: Source, read: Read<unknown>, { failure, isRefused }: Ended): void {
    const { name, chain, reads } = source;
    const fields = { source: name, chain, ...(reads.length > 1 && { read: read.name }), err: failure?.message };
    const reason = failure instanceof RequestFailed ? failure.reason : failure?.name;
    // The key and the budget concern all sources, and have lines of their own.
    const isShared = failure instanceof BudgetClosed || isFailure(failure, 'unauthorized', 'revoked');
    const isNew = !isShared && this.#hasChanged(`failure of ${sourceId(source)} ${read.name}`, reason);
    // PART_REFUSED says so already.
    if (!failure && isNew && !isRefused) this.#log.info(fields, 'poll succeeded again');
    else if (!failure) this.#log.debug(fields, 'polled');
    else this.#log[isNew ? 'warn' : 'debug']({ ...fields, help: helpOn(failure) }, 'poll failed');
  }

  /** Logs the first unreadable record of each endpoint and field. */
  unreadable(endpoint: Endpoint, { place, message }: Odd): void {
    const field = place.replace(/(?<=^|\.)\d+(?=\.|$)/g, '*');
    if (!this.#hasChanged(`${endpoint} ${field}`, 'odd')) return;
    const help = 'update the exporter, or report the output of check --probe';
    this.#log.warn({ endpoint, field, err: message, help }, 'a field of a record is unreadable');
  }

  /** Called after the value with the event was saved. */
  found({ name, chain, events }: Source, { type, ...fields }: SourceEvent): void {
    const line = KERNEL_EVENTS[type] ?? events?.[type];
    if (!line) throw new TypeError(`no line for the event ${type} of ${name}`);
    this.#log[line.level]({ source: name, chain, ...fields }, line.message);
  }

  /** Logs the waits if other sources wait than before, and, at most once an hour, the plan if an interval changed by much. */
  scheduled(schedules: ReadonlyMap<Source, Schedule>, now: MonotonicMs): void {
    const all = [...schedules].map(([source, schedule]) => ({ id: sourceId(source), source, schedule }));
    this.#logWaits(new Map(all.flatMap(({ id, schedule: { first } }) => (first.wait ? [[id, first.wait]] : []))));
    const running = all.filter(({ schedule }) => !schedule.first.wait);
    if (running.length === 0 || (this.#plan && now - this.#plan.at < MS_PER_HOUR)) return;
    const { paces: before = new Map<string, LoggedPace>() } = this.#plan ?? {};
    const paces = new Map(running.map(({ id, source, schedule }) => [id, loggedPace(source, schedule)]));
    if (![...paces].some(([id, pace]) => isMaterial(before.get(id), pace))) return;
    this.#plan = { at: now, paces: new Map([...before, ...paces]) };
    const perDay = Math.ceil(running.reduce((sum, { schedule }) => sum + requestsPerDay(schedule), 0));
    const isStretched = running.some(({ schedule: { first } }) => first.pace.intervalMs > first.read.everyMs);
    const intervals = Object.fromEntries([...paces].map(([id, pace]) => [id, describePace(pace)]));
    const fields = { intervals, requests_per_day: perDay };
    if (isStretched) this.#log.warn(fields, 'intervals stretched to stay within the limits');
    else this.#log.info(fields, 'polling at the configured intervals');
  }

  #logWaits(waits: ReadonlyMap<string, QuotaWait>): void {
    if (!this.#hasChanged('waits', waits.size > 0 ? [...waits.keys()].join() : undefined) || waits.size === 0) return;
    const described = [...waits].map(([id, { limit, until }]) => [
      id,
      `${LIMITS[limit]}, until ${new Date(until).toISOString()}`,
    ]);
    this.#log.warn({ waits: Object.fromEntries(described) }, 'polling paused until the quota resets');
  }

  #hasChanged(key: string, value: string | undefined): boolean {
    if (this.#logged.get(key) === value) return false;
    this.#logged.set(key, value);
    return true;
  }
}

interface LoggedPace {
  readonly intervalMs: Milliseconds;
  /** What the budget leaves out, in a few words. */
  readonly without: string;
}

function loggedPace({ more }: Source, { first }: Schedule): LoggedPace {
  return { intervalMs: first.pace.intervalMs, without: more?.leavesOut?.(first.timing) ?? '' };
}

function isMaterial(before: LoggedPace | undefined, { intervalMs, without }: LoggedPace): boolean {
  if (before?.without !== without) return true;
  const ratio = intervalMs / before.intervalMs;
  return ratio >= MATERIAL_RATIO || ratio <= 1 / MATERIAL_RATIO;
}

function describePace({ intervalMs, without }: LoggedPace): string {
  return `${formatSeconds(intervalMs)}${without && ` (${without})`}`;
}

function helpOn(failure: Error): string | undefined {
  if (!isFailure(failure, 'forbidden')) return undefined;
  const next = partOf(failure.endpoint)
    ? 'If the service refuses it again, at least ten minutes later, this part of the source is off for a day'
    : 'Or set enabled: false for this source. Until then the exporter tries again every hour';
  return `the plan of the account may not include this endpoint. See beaconcha.in/pricing. ${next}`;
}
