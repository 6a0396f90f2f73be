import type { Clock } from '../../../src/toolkit/lib/clock.ts';
import { systemClock } from '../../../src/toolkit/lib/clock.ts';

// A real Prometheus uses the clock of the machine. So tests run the exporter on a faster clock and divide all durations
// in configurations by the same factor.

/** How a fast clock was set: at `start` on the machine's clock it showed `shown` (Unix ms). */
export interface Setting {
  readonly start: number;
  readonly shown: number;
}

/** A clock that now shows `shown` and runs `speed` times as fast. */
export function hastyClock(speed: number, shown: number): Clock & Setting {
  const [start, origin] = [systemClock.now(), systemClock.monotonic()];
  const elapsed = (): number => (systemClock.monotonic() - origin) * speed;
  return {
    start,
    shown,
    now: () => shown + elapsed(),
    monotonic: elapsed,
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  };
}

const MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /\b(\d+)(ms|[smhd])\b/g;

/** Divides all durations in a text: at a speed of 100, `5m` becomes `3000ms`. */
export function hastyDuration(text: string, speed: number): string {
  return text.replace(DURATION, (_, count: string, unit: string) => {
    const ms = Number(count) * MS[unit as keyof typeof MS];
    return `${Math.max(1, Math.round(ms / speed))}ms`;
  });
}

/** Divides ranges and offsets of an expression, and replaces `time()` by the time on the fast clock. */
export function hastyExpression(expr: string, speed: number, { start, shown }: Setting): string {
  const time = `(${shown / 1000} + (time() - ${start / 1000}) * ${speed})`;
  return hastyDuration(expr, speed).replaceAll('time()', time);
}
