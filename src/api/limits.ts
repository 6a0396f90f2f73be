import type { Endpoint } from './errors.ts';

const MIB = 1024 * 1024;

/** The most that an answer may contain. Within these limits it is parsed quickly and takes little memory. */
export interface AnswerLimits {
  readonly bytes: number;
  /** Objects, nested ones included. */
  readonly objects: number;
  /** Members of all objects together. */
  readonly members: number;
  /** Values of any kind, members included. */
  readonly values: number;
}

/** A page holds 10 to 100 records, of at most a dozen nested objects and 60 members. */
const PAGE: AnswerLimits = { bytes: 4 * MIB, objects: 10_000, members: 100_000, values: 100_000 };
/** One slashing lists at most 131,072 validators twice (Electra), and a block holds two slashings at most. */
const SLASHINGS: AnswerLimits = { bytes: 32 * MIB, objects: 1_000, members: 30_000, values: 600_000 };

export function limitsOf(endpoint: Endpoint): AnswerLimits {
  return endpoint === 'attester_slashings' ? SLASHINGS : PAGE;
}
