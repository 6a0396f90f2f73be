import type { Chain } from '../../facts/chain.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';

export interface NetworkOptions {
  readonly chain: Chain;
  readonly intervalMs: Milliseconds;
  readonly weight: number;
}
