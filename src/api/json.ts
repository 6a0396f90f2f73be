import { setImmediate } from 'node:timers/promises';
import type { Endpoint } from './errors.ts';

/** What an answer may hold at most. What is within these bounds is parsed in a moment and takes little memory. */
interface JsonLimits {
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

const MAX_DEPTH = 32;
/** Of a number as it is written. */
const MAX_NUMBER_LENGTH = 1_000;
/** Characters that are read without giving others a turn: about 2 ms. */
const SLICE = 1_048_576;

/** The answer is no JSON, or not one that the service could have meant. */
export class JsonRefused extends Error {
  override readonly name = 'JsonRefused';
}

/**
 * Parses an answer of any shape without holding up the event loop: JSON.parse cannot be interrupted, and takes seconds and
 * a gigabyte for a few million small objects.
 * @throws JsonRefused
 */
export async function parseJson(endpoint: Endpoint, text: string): Promise<unknown> {
  const scan = new Scan(endpoint === 'attester_slashings' ? SLASHINGS : PAGE);
  for (let start = 0; start < text.length; start += SLICE) {
    if (start > 0) await setImmediate();
    scan.read(text, start, Math.min(start + SLICE, text.length));
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new JsonRefused('not JSON');
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OBJECT, OBJECT_END, ARRAY, ARRAY_END] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Counts what JSON.parse would make of a text, without making it. */
class Scan {
  readonly #limits: JsonLimits;
  #isInString = false;
  #isEscaped = false;
  #depth = 0;
  #objects = 0;
  #members = 0;
  #values = 0;
  /** Characters since the last punctuation or text. */
  #run = 0;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** @throws JsonRefused */
  read(text: string, start: number, end: number): void {
    for (let i = start; i < end; i += 1) {
      const code = text.charCodeAt(i);
      if (this.#isInString) this.#readInString(code);
      else this.#readOutside(code);
    }
  }

  #readInString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === BACKSLASH) this.#isEscaped = true;
    else if (code === QUOTE) this.#isInString = false;
  }

  #readOutside(code: number): void {
    switch (code) {
      case QUOTE:
        this.#isInString = true;
        this.#run = 0;
        return;
      case OBJECT:
        this.#objects += 1;
        this.#open();
        return;
      case ARRAY:
        this.#open();
        return;
      case OBJECT_END:
      case ARRAY_END:
        this.#depth -= 1;
        this.#run = 0;
        return;
      case COLON:
        this.#members += 1;
        this.#run = 0;
        return;
      case COMMA:
        this.#count();
        return;
      default:
        this.#run += 1;
        if (this.#run > MAX_NUMBER_LENGTH && code > 0x20) throw new JsonRefused('a number without end');
        if (code <= 0x20) this.#run = 0;
    }
  }

  #open(): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new JsonRefused(`nested more than ${MAX_DEPTH} deep`);
    this.#count();
  }

  #count(): void {
    this.#values += 1;
    this.#run = 0;
    const { objects, members, values } = this.#limits;
    if (this.#objects > objects) throw new JsonRefused(`more than ${objects} objects`);
    if (this.#members > members) throw new JsonRefused(`more than ${members} members`);
    if (this.#values > values) throw new JsonRefused(`more than ${values} values`);
  }
}
