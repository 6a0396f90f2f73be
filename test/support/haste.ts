import type { Clock } from '../../src/lib/clock.ts';
import { systemClock } from '../../src/lib/clock.ts';

// A real Prometheus has no other clock than the machine's. So the exporter lives faster, and what a configuration says
// about time is divided by as much.

/** Where a hasty clock was set: at `start` of the machine's clock it showed `shown` (Unix ms). */
export interface Setting {
  readonly start: number;
  readonly shown: number;
}

/** A clock that was set at `start` (by default now), to that time unless `shown` is another, and goes `speed` times as fast. */
export function hastyClock(speed: number, start = systemClock.now(), shown = start): Clock & Setting {
  const origin = systemClock.monotonic() - (systemClock.now() - start);
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

/** `5m` at a speed of 100 is `3000ms`. */
export function hastyDuration(text: string, speed: number): string {
  return text.replace(DURATION, (_, count: string, unit: string) => {
    const ms = Number(count) * MS[unit as keyof typeof MS];
    return `${Math.max(1, Math.round(ms / speed))}ms`;
  });
}

/** An expression with ranges and offsets as short, and with the time of the hasty clock. */
export function hastyExpression(expr: string, speed: number, { start, shown }: Setting): string {
  const time = `(${shown / 1000} + (time() - ${start / 1000}) * ${speed})`;
  return hastyDuration(expr, speed).replaceAll('time()', time);
}
