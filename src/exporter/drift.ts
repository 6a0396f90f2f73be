import {
  type Comparison,
  compareAnswer,
  DIFFERENCE_KINDS,
  type Difference,
  type TimeUnit,
} from '../api/differences.ts';
import type { Endpoint } from '../api/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { MS_PER_DAY } from '../lib/duration.ts';
import { isObject } from '../lib/is-object.ts';
import type { Logger } from '../lib/log.ts';
import type { UnixMs } from '../lib/time.ts';
import type { Family, Sample } from '../metrics/family.ts';

/**
 * Differences of one endpoint and kind that are remembered. A limit, so that a hostile service cannot fill the memory.
 */
const MAX_DIFFERENCES = 100;

/**
 * A single unusual response is not drift. A difference that only some responses show, such as those with records of one
 * client, is drift.
 */
const MIN_ANSWERS = 3;

interface Seen extends Pick<Difference, 'kind'> {
  readonly endpoint: Endpoint;
  /** How many answers have shown it. */
  answers: number;
  /** Unix ms of the last of them. */
  seenAt: UnixMs;
}

/** Where the answers that this process has read differ from the specification. */
export class SchemaDrift {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #seen = new Map<string, Seen>();
  readonly #answeredAt = new Map<Endpoint, UnixMs>();
  /** The unit of the first times of each field. */
  readonly #units = new Map<string, ReadonlySet<TimeUnit>>();

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Compares an answer with the specification. Each difference is logged once. */
  note(endpoint: Endpoint, json: unknown): void {
    // An error instead of data says nothing about the shape of the data.
    if (!isObject(json) || typeof json['data'] !== 'object' || json['data'] === null) return;
    const now = this.#clock.now();
    this.#answeredAt.set(endpoint, now);
    const { differences, units } = compareAnswer(endpoint, json);
    const unexpected = differences.filter(({ mayBeAbsent }) => !mayBeAbsent);
    for (const difference of [...unexpected, ...this.#changedUnits(endpoint, units)]) {
      this.#remember(endpoint, difference, now);
    }
  }

  /**
   * The number of fields that differ, by endpoint and kind: those of the last response, and those that several
   * responses of the preceding day have shown.
   */
  samples(endpoints: readonly Endpoint[]): Sample[] {
    return endpoints.flatMap((endpoint) => {
      const last = this.#answeredAt.get(endpoint) ?? 0;
      const counts = ({ seenAt, answers }: Seen): boolean =>
        seenAt === last || (seenAt >= last - MS_PER_DAY && answers >= MIN_ANSWERS);
      return DIFFERENCE_KINDS.map((kind) => ({
        labels: { endpoint, kind },
        value: this.#of(endpoint, kind).filter(counts).length,
      }));
    });
  }

  #remember(endpoint: Endpoint, { kind, field, detail }: Difference, seenAt: UnixMs): void {
    const id = JSON.stringify([endpoint, kind, field]);
    const known = this.#seen.get(id);
    if (known) {
      known.answers += 1;
      known.seenAt = seenAt;
    } else if (this.#of(endpoint, kind).length < MAX_DIFFERENCES) {
      this.#seen.set(id, { endpoint, kind, answers: 1, seenAt });
      this.#log.info({ endpoint, kind, field, ...(detail && { detail }) }, 'response differs from the specification');
    }
  }

  #of(endpoint: Endpoint, kind: Difference['kind']): Seen[] {
    return [...this.#seen.values()].filter((one) => one.endpoint === endpoint && one.kind === kind);
  }

  #changedUnits(endpoint: Endpoint, units: Comparison['units']): Difference[] {
    return [...units].flatMap(([field, now]): Difference[] => {
      const id = `${endpoint} ${field}`;
      const first = this.#units.get(id);
      if (!first && now.size > 0) this.#units.set(id, now);
      const other = first && [...now].find((unit) => !first.has(unit));
      return other ? [{ kind: 'type', field, detail: `now in ${other}`, mayBeAbsent: false }] : [];
    });
  }
}

/** beaconchain_api_schema_drift. */
export function driftFamily(samples: readonly Sample[]): Family {
  return {
    name: 'beaconchain_api_schema_drift',
    type: 'gauge',
    help: 'Response fields that differed from the specification in the last day: absent, unknown, or of another type or unit. Counts only responses read by this process.',
    samples,
  };
}
