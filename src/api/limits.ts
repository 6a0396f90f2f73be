import type { Endpoint } from './errors.ts';

const MIB = 1024 * 1024;

/** Slashing records list up to 131,072 validators twice. No other page comes near its limit. */
export function maxBodyBytes(endpoint: Endpoint): number {
  return (endpoint === 'attester_slashings' ? 32 : 4) * MIB;
}

/** The most that an answer may contain. Within these limits it is parsed quickly and takes little memory. */
export interface JsonLimits {
  /** Objects, nested ones included. */
  readonly objects: number;
  /** Members of all objects together. */
  readonly members: number;
  /** Values of any kind, members included. */
  readonly values: number;
}

/** A page holds 10 to 100 records, of at most a dozen nested objects and 60 members. */
const PAGE: JsonLimits = { objects: 10_000, members: 100_000, values: 100_000 };
/** One slashing lists at most 131,072 validators twice (Electra), and a block holds two slashings at most. */
const SLASHINGS: JsonLimits = { objects: 1_000, members: 30_000, values: 600_000 };

export function jsonLimits(endpoint: Endpoint): JsonLimits {
  return endpoint === 'attester_slashings' ? SLASHINGS : PAGE;
}

export const MAX_DEPTH = 32;
/** In characters. */
export const MAX_NUMBER_LENGTH = 1_000;
