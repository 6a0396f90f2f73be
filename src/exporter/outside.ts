import { type CreateTransport, createTransport } from '../api/transport.ts';
import { EXPOSITION_OPTIONS, type ExpositionOptions } from '../metrics/exposition.ts';

/** What an engine uses of the world apart from clock, log and documents. A simulation replaces it. */
export interface Outside {
  readonly createTransport: CreateTransport;
  /** In [0, 1). */
  random(): number;
  readonly exposition: ExpositionOptions;
}

export const OUTSIDE: Outside = { createTransport, random: Math.random, exposition: EXPOSITION_OPTIONS };
