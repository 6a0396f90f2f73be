import type { Budget } from '../budget/permit.ts';
import { LeaseLost } from '../replica/lease.ts';
import type { Replica } from '../replica/replica.ts';

/** Lets nothing leave without the lease. It is looked at after the wait for a turn: meanwhile the process may have slept. */
export function leased(budget: Budget, replica: Pick<Replica, 'leads'>): Budget {
  return {
    async acquire(request, signal) {
      const permit = await budget.acquire(request, signal);
      if (replica.leads()) return permit;
      permit.release(undefined);
      throw new LeaseLost();
    },
  };
}
