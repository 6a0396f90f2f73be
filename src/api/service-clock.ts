import type { Clock } from '../toolkit/lib/clock.ts';
import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { Milliseconds, MonotonicMs, UnixMs } from '../toolkit/lib/time.ts';
import type { Times } from './times.ts';

/** How far the service's clock was ahead of ours at one response. */
export interface ClockSample {
  readonly at: MonotonicMs;
  readonly offsetMs: Milliseconds;
}

const MAX_SAMPLES = 5;

/** Pure. The median of the last five samples of the last hour. If two are in the middle, the smaller offset. */
export function medianOffset(samples: readonly ClockSample[], now: MonotonicMs): Milliseconds | undefined {
  const recent = samples.filter(({ at }) => now - at <= MS_PER_HOUR).slice(-MAX_SAMPLES);
  const offsets = recent.map(({ offsetMs }) => offsetMs).sort((a, b) => a - b);
  const middle = offsets.slice((offsets.length - 1) >> 1, (offsets.length >> 1) + 1);
  return middle.toSorted((a, b) => Math.abs(a) - Math.abs(b))[0];
}

/** `Date` is in whole seconds, so a smaller step of our clock changes nothing. */
const MIN_STEP_MS = 1_000;
/** Up to this offset our clock counts as right. */
const WRONG_FROM_MS = MS_PER_MINUTE;
const MAX_OFFSET_MS = MS_PER_DAY + MIN_STEP_MS;

/**
 * Pure. The correction after a step of our clock. A step back does not prove our clock right, so a known time of the service stays in
 * use. A step forward can be a sleep of the host, or the end of a slow clock.
 */
function afterStep(correctionMs: Milliseconds, stepMs: Milliseconds, isKnown: boolean): Milliseconds {
  const keptMs = correctionMs - stepMs;
  const isKept = correctionMs !== 0 || (isKnown && keptMs > WRONG_FROM_MS);
  return stepMs < 0 && isKept ? keptMs : Math.min(0, correctionMs);
}

/**
 * Our clock, corrected by the service's clock if wrong by more than a minute. All parts of the exporter use it, so that the time of a
 * poll and the age of a record agree. A change of the correction looks like a step of the clock. A correction stays until the next
 * responses show another one.
 */
export class ServiceClock implements Clock {
  correctionMs: Milliseconds = 0;
  readonly #own: Clock;
  #samples: readonly ClockSample[] = [];
  /** Our clock's time when the monotonic clock was 0. */
  #origin: UnixMs;
  /** The latest times in responses, minus the monotonic time of their arrival. */
  readonly #bounds = new Map<keyof Times, { readonly seenAt: MonotonicMs; readonly origin: UnixMs }>();

  constructor(own: Clock) {
    this.#own = own;
    this.#origin = own.now() - own.monotonic();
  }

  now(): UnixMs {
    const now = this.#own.now();
    const origin = now - this.#own.monotonic();
    const stepMs = origin - this.#origin;
    if (Math.abs(stepMs) > MIN_STEP_MS) {
      const isKnown = medianOffset(this.#samples, this.monotonic()) !== undefined;
      this.#samples = [];
      this.correctionMs = afterStep(this.correctionMs, stepMs, isKnown);
    }
    this.#origin = origin;
    return now + this.correctionMs;
  }

  monotonic(): MonotonicMs {
    return this.#own.monotonic();
  }

  sleep(ms: Milliseconds, signal?: AbortSignal): Promise<void> {
    return this.#own.sleep(ms, signal);
  }

  /** How far the service's clock is ahead of ours. Undefined if no recent response shows it. */
  offsetMs(): Milliseconds | undefined {
    this.now();
    return medianOffset(this.#samples, this.monotonic());
  }

  /** How far `now` is ahead of the service's clock. 0 if it is not ahead, or no recent response shows it. */
  fastMs(): Milliseconds {
    const offsetMs = this.offsetMs() ?? this.correctionMs;
    return this.#isPlausible(offsetMs) ? Math.max(0, this.correctionMs - offsetMs) : 0;
  }

  /** Takes the `Date` of a response that has just arrived. */
  answered(date: UnixMs, tookMs: Milliseconds): void {
    const offsetMs = date - (this.now() - this.correctionMs - tookMs / 2);
    const at = this.monotonic();
    this.#samples = [...this.#samples, { at, offsetMs }].slice(-MAX_SAMPLES);
    this.#correct();
  }

  /** Takes the times in a response that has just arrived. A wrong one lasts for an hour. */
  contains(times: Times): void {
    const seenAt = this.monotonic();
    for (const kind of ['slotAt', 'machinesAt'] as const) {
      const [known, origin] = [this.#bounds.get(kind), (times[kind] ?? Number.NEGATIVE_INFINITY) - seenAt];
      if (!known || origin > known.origin || seenAt - known.seenAt > MS_PER_HOUR)
        this.#bounds.set(kind, { seenAt, origin });
    }
    this.#correct();
  }

  /** Whether neither a response, nor our clock together with machines, contradicts this `Date`. /metrics shows the offset anyway. */
  #isPlausible(offsetMs: Milliseconds): boolean {
    const latest = this.#origin + offsetMs + WRONG_FROM_MS;
    const isBefore = (kind: keyof Times): boolean => latest < (this.#bounds.get(kind)?.origin ?? latest);
    const isContradicted = isBefore('slotAt') || (offsetMs < -WRONG_FROM_MS && isBefore('machinesAt'));
    return Math.abs(offsetMs) <= MAX_OFFSET_MS && !isContradicted;
  }

  #correct(): void {
    const offsetMs = this.offsetMs() ?? this.correctionMs;
    const median = this.#isPlausible(offsetMs) ? Math.round(offsetMs) : 0;
    // Otherwise an offset of about a minute would set the clock back and forth.
    if (Math.abs(median - this.correctionMs) <= WRONG_FROM_MS) return;
    this.correctionMs = Math.abs(median) > WRONG_FROM_MS ? median : 0;
  }
}
