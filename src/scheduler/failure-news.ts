import { type Endpoint, KEY_REFUSALS, RequestFailed } from '../api/errors.ts';
import { BudgetClosed } from '../budget/permit.ts';

/** How to log a failed poll. */
interface Telling {
  readonly level: 'warn' | 'debug';
  readonly help?: string;
}

const NOT_PUBLISHED = 'the service does not publish which plans include it';

/** What is known of the plan that an endpoint needs (api-facts 3.1). */
const PLANS: Readonly<Partial<Record<Endpoint, string>>> = {
  daily_returns:
    'according to the documentation, only requests for a range of days need a Scale or Enterprise plan, and this request has no range',
};

function helpOn(endpoint: Endpoint): string {
  const known = PLANS[endpoint] ?? NOT_PUBLISHED;
  return `the plan of the account may not include this endpoint; ${known}. See beaconcha.in/pricing, or set enabled: false for this source. Until then it is tried again every hour`;
}

/** Decides how the failure of a poll is logged. */
export class FailureNews {
  /** Sources that were refused with 403 since their last success. They ask every hour, and only a change of plan helps. */
  readonly #forbidden = new Set<string>();

  /** A poll of the source has ended. `failure` undefined: it succeeded. */
  take(id: string, failure: Error | undefined): Telling {
    if (!failure) this.#forbidden.delete(id);
    // A closed budget was already logged when it closed.
    if (failure instanceof BudgetClosed) return { level: 'debug' };
    if (!(failure instanceof RequestFailed)) return { level: 'warn' };
    const { reason, endpoint } = failure;
    // These are logged in one line for all sources.
    if (KEY_REFUSALS.includes(reason)) return { level: 'debug' };
    if (reason !== 'forbidden') return { level: 'warn' };
    const level = this.#forbidden.has(id) ? 'debug' : 'warn';
    this.#forbidden.add(id);
    return { level, help: helpOn(endpoint) };
  }

  /** The operator has reloaded the program: a persistent refusal is logged again. */
  reset(): void {
    this.#forbidden.clear();
  }
}
