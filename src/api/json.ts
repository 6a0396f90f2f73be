import { setImmediate } from 'node:timers/promises';
import type * as z from 'zod';
import { type Endpoint, RequestFailed } from './errors.ts';
import { type AnswerLimits, limitsOf } from './limits.ts';

const MAX_DEPTH = 32;
/** In bytes. Applies to words such as `null` too. */
const MAX_NUMBER_LENGTH = 1_000;

/** Reading more in one turn of the event loop would delay scrapes: what has arrived can be megabytes. */
const MAX_BYTES_IN_TURN = 256 * 1024;

/** The answer is not JSON, or it exceeds the limits of its endpoint. */
export class JsonRefused extends Error {
  override readonly name = 'JsonRefused';
}

/** Reads the body of an answer. @throws RequestFailed */
export function readBody(endpoint: Endpoint, body: AsyncIterable<Uint8Array>): Promise<unknown> {
  return parseJson(endpoint, body).catch((error: unknown) => {
    if (!(error instanceof JsonRefused)) throw error;
    throw new RequestFailed(endpoint, 'invalid_body', error.message, 200);
  });
}

/** Checks the structure around the records of an answer. @throws RequestFailed */
export function opened<S extends z.ZodType>(endpoint: Endpoint, envelope: S, json: unknown): z.output<S> {
  const parsed = envelope.safeParse(json);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') || 'body';
  throw new RequestFailed(endpoint, 'invalid_body', `unexpected shape at ${where}`, 200);
}

/**
 * Parses an answer of any shape without holding up the event loop: JSON.parse cannot be interrupted, and takes seconds
 * and a gigabyte for a few million small objects. So each chunk is checked against the limits as it arrives, before
 * anything is parsed.
 * @throws JsonRefused; whatever reading the body throws
 */
export async function parseJson(endpoint: Endpoint, body: AsyncIterable<Uint8Array>): Promise<unknown> {
  const limits = limitsOf(endpoint);
  const scan = new Scan(limits);
  const text = new Text(limits.bytes);
  let bytesInTurn = 0;
  for await (const piece of body) {
    scan.read(piece);
    text.add(piece);
    bytesInTurn += piece.length;
    if (bytesInTurn < MAX_BYTES_IN_TURN) continue;
    await setImmediate();
    bytesInTurn = 0;
  }
  try {
    return JSON.parse(text.take());
  } catch {
    throw new JsonRefused('not JSON');
  }
}

/** Collects the bytes of a text in one buffer. Separate chunks would add up until the garbage collector runs. */
class Text {
  readonly #maxBytes: number;
  /** Most texts arrive in one piece, which is not copied. */
  #only: Uint8Array | undefined;
  #bytes: ArrayBuffer | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(piece: Uint8Array): void {
    if (!this.#bytes && !this.#only) {
      this.#only = piece;
      return;
    }
    this.#bytes ??= new ArrayBuffer(0, { maxByteLength: this.#maxBytes });
    for (const part of [this.#only, piece]) if (part) append(this.#bytes, part);
    this.#only = undefined;
  }

  /** Returns the text and frees its bytes at once. */
  take(): string {
    const bytes = this.#only ?? new Uint8Array(this.#bytes ?? new ArrayBuffer(0));
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    this.#only = undefined;
    this.#bytes?.resize(0);
    return text;
  }
}

function append(bytes: ArrayBuffer, piece: Uint8Array): void {
  const end = bytes.byteLength;
  bytes.resize(end + piece.length);
  new Uint8Array(bytes).set(piece, end);
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OBJECT, OBJECT_END, ARRAY, ARRAY_END] = [0x7b, 0x7d, 0x5b, 0x5d];
const SPACE = 0x20;
const MARKS = [QUOTE, COMMA, COLON, OBJECT, OBJECT_END, ARRAY, ARRAY_END];
/** By byte, 1: a part of a number or of a word such as `null`. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, code) => (code > SPACE && !MARKS.includes(code) ? 1 : 0));

/** Counts what JSON.parse would create from a text, without creating it. */
class Scan {
  readonly #limits: AnswerLimits;
  #isInString = false;
  #isEscaped = false;
  #depth = 0;
  #objects = 0;
  #members = 0;
  #values = 0;
  /** Bytes since the last punctuation mark, string or space. */
  #run = 0;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
  }

  /**
   * Reads UTF-8, in which the bytes of punctuation never occur inside another character.
   * @throws JsonRefused
   */
  read(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i += 1) {
      i = this.#isInString ? this.#readString(bytes, i) : this.#readPlain(bytes, i);
    }
  }

  /** Reads on in a string, and returns where it ends. Most of an answer is strings, so this is a loop of its own. */
  #readString(bytes: Uint8Array, start: number): number {
    let i = this.#isEscaped ? start + 1 : start;
    this.#isEscaped = false;
    for (; i < bytes.length; i += 1) {
      const code = bytes[i];
      if (code === QUOTE) {
        this.#isInString = false;
        return i;
      }
      if (code === BACKSLASH) i += 1;
    }
    // The escaped character is the first of the next piece.
    this.#isEscaped = i > bytes.length;
    return i;
  }

  /** Reads on outside of strings to the next mark or the end of the next spaces, and returns where that is. */
  #readPlain(bytes: Uint8Array, start: number): number {
    let i = start;
    while (i < bytes.length && PLAIN[bytes[i] as number] === 1) i += 1;
    this.#run += i - start;
    if (this.#run > MAX_NUMBER_LENGTH)
      throw new JsonRefused(`a number or word of more than ${MAX_NUMBER_LENGTH} characters`);
    if (i === bytes.length) return i;
    const code = bytes[i] as number;
    if (code > SPACE) {
      this.#readMark(code);
      return i;
    }
    this.#run = 0;
    while (i + 1 < bytes.length && (bytes[i + 1] as number) <= SPACE) i += 1;
    return i;
  }

  #readMark(code: number): void {
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
