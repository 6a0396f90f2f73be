import { HOUR } from '../../support/timing.ts';
import type { TrafficEvent } from '../traffic.ts';

const SMALL_STEP_MS = 1_000;

/** The steps of the clocks. After one forward, which may be time that passed, an hour of a wait is kept at most. */
export class Steps {
  readonly #steps: { readonly at: number; readonly host: string; readonly byMs: number }[] = [];

  note(event: TrafficEvent): void {
    if (event.kind === 'step' && event.byMs !== 0) this.#steps.push(event);
  }

  any(host: string, from: number, to: number): boolean {
    return this.#between(host, from, to).length > 0;
  }

  wentForward(host: string, from: number, to: number): boolean {
    return this.#between(host, from, to).some(({ byMs }) => byMs > 0);
  }

  /** What a wait that began at `from` is at least, if the process has lived all the time. */
  shortened(host: string, from: number, waitMs: number, to: number): number {
    let end = from + waitMs;
    for (const { at, byMs } of this.#between(host, from, to)) {
      // A small step is no different from NTP, and waits are not moved with it.
      if (byMs > 0 && byMs < SMALL_STEP_MS) end -= byMs;
      else if (byMs > 0) end = Math.min(end, Math.max(end - byMs, at + HOUR));
    }
    return end - from;
  }

  #between(host: string, from: number, to: number): { readonly at: number; readonly byMs: number }[] {
    return this.#steps.filter((step) => step.host === host && step.at >= from && step.at <= to);
  }
}
