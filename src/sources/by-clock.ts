import { type Chain, epochAt } from '../lib/chain.ts';
import type { UnixMs } from '../lib/time.ts';
import { isUnknownToService } from './alternatives.ts';

/**
 * Ways to request the current item: by the name that the service gives it, or by its number. The name is preferred,
 * because it does not depend on our clock.
 */
export const LATEST_OR_NUMBER = { ways: ['latest', 'number'], prefersFirst: true } as const;

/**
 * Requests the current epoch (by the clock) by number, and the previous epoch if the service does not have the current
 * one yet. If it is not known whether the service accepts numbers, only the previous epoch is requested, which the
 * service should have.
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
