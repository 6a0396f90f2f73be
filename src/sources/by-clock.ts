import { type Chain, epochAt } from '../lib/chain.ts';
import type { UnixMs } from '../lib/time.ts';
import { isUnknownToService } from './alternatives.ts';

/**
 * Ways to ask for what is current: by the name that the service gives it, or by its number. The name is better, because
 * it does not depend on our clock.
 */
export const LATEST_OR_NUMBER = { ways: ['latest', 'number'], prefersFirst: true } as const;

/**
 * Asks by the number of the current epoch by the clock, and by that of the epoch before where the service does not have
 * the current one yet. Where it is not known whether the service can be asked by number, only the epoch before is asked
 * for, which the service should have.
 */
export async function askByClock<T>(
  { chain, now, isUsual }: { readonly chain: Chain; readonly now: UnixMs; readonly isUsual: boolean },
  numberOf: (epoch: number) => number,
  ask: (number: number) => Promise<T>,
): Promise<T> {
  const epoch = Math.max(1, epochAt(chain, now));
  const [current, before] = [numberOf(epoch), numberOf(epoch - 1)];
  if (isUsual && current !== before) {
    try {
      return await ask(current);
    } catch (error) {
      if (!isUnknownToService(error)) throw error;
    }
  }
  return ask(before);
}
