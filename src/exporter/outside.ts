import { type CreateTransport, createTransport } from '../api/transport.ts';
import { type Compress, compressed } from '../metrics/exposition.ts';

/** What an engine uses of the world apart from clock, log and documents. A simulation replaces it. */
export interface Outside {
  readonly createTransport: CreateTransport;
  /** In [0, 1). */
  random(): number;
  readonly compress: Compress;
}

export const OUTSIDE: Outside = { createTransport, random: Math.random, compress: compressed };
