import { STATES_BY_PART } from './rare-states.ts';

type ByPart = typeof STATES_BY_PART;

/** A part of the simulation that detects rare states. */
export type Part = keyof ByPart;

/** The name of a rare state. */
export type RareState = { [P in Part]: keyof ByPart[P] }[Part];

/** Every rare state, and how it is detected. */
export const RARE_STATES: Readonly<Record<RareState, string>> = {
  ...STATES_BY_PART.disk,
  ...STATES_BY_PART.redis,
  ...STATES_BY_PART.service,
  ...STATES_BY_PART.process,
  ...STATES_BY_PART.exposition,
};

const NAMES = Object.keys(RARE_STATES) as RareState[];

/** How often each rare state was reached. */
export class Reached {
  readonly #counts = new Map<RareState, number>();

  note(state: RareState, times = 1): void {
    this.#counts.set(state, this.of(state) + times);
  }

  of(state: RareState): number {
    return this.#counts.get(state) ?? 0;
  }

  /** Counts each of the states that one run has reached once. */
  noteAll(states: Iterable<RareState>): void {
    for (const state of states) this.note(state);
  }

  /** Adds what other runs have reached. */
  merge(other: Reached): void {
    for (const [state, times] of other.#counts) this.note(state, times);
  }

  /** The states that no run has reached, in the order of the list. */
  missing(): RareState[] {
    return NAMES.filter((state) => this.of(state) === 0);
  }

  /** As plain data, in the order of the list, for another process. */
  toJSON(): Partial<Record<RareState, number>> {
    return Object.fromEntries(NAMES.flatMap((state) => (this.of(state) > 0 ? [[state, this.of(state)]] : [])));
  }

  /** @throws TypeError where a state is not in the list */
  static from(counts: Readonly<Record<string, number>>): Reached {
    const reached = new Reached();
    for (const [name, times] of Object.entries(counts)) {
      const state = NAMES.find((one) => one === name);
      if (state === undefined) throw new TypeError(`no rare state is called ${name}`);
      reached.note(state, times);
    }
    return reached;
  }
}

/** The states that were not reached, one line each, with the part that detects them and how. */
export function tellMissing(reached: Reached): string[] {
  return reached.missing().map((state) => `never reached: ${state} (${partOf(state)}): ${RARE_STATES[state]}`);
}

function partOf(state: RareState): Part | undefined {
  return (Object.keys(STATES_BY_PART) as Part[]).find((part) => state in STATES_BY_PART[part]);
}
