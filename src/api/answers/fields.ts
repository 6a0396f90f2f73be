import * as z from 'zod';

/**
 * The readers of fields. A source reads a number, an amount or a time with one of them, and in no other way, so that what is
 * shown, added up or saved is a number that JSON can hold. A field is optional unless it says whose or of when a record is.
 */

/** A larger number of anything is no count. Thousands of such numbers still have a finite sum. */
const MAX_COUNT = 1e15;
/** Servers send more than 1e15 bytes between two boots. */
const MAX_BYTES = 1e18;
/** In the year 5138. */
const MAX_UNIX_SECONDS = 1e11;

/** A whole number. */
export const Count = z.int().nonnegative().max(MAX_COUNT);
/** An epoch, a slot or a day: numbered from the genesis of its chain. */
export const Index = z.int().nonnegative().max(MAX_COUNT);
export const Quantity = z.number().nonnegative().max(MAX_COUNT);
export const Bytes = z.number().nonnegative().max(MAX_BYTES);
/** A quantity that can be negative. */
export const Ratio = z.number().min(-MAX_COUNT).max(MAX_COUNT);
export const UnixSeconds = z.number().nonnegative().max(MAX_UNIX_SECONDS);
/** Clients push milliseconds, and one page of the docs says seconds. */
export const PushedAt = z
  .number()
  .positive()
  .max(MAX_UNIX_SECONDS * 1000)
  .transform((time) => (time > MAX_UNIX_SECONDS ? time / 1000 : time));

/** Wei as a decimal string, with a sign: a penalty, or an estimate of the service, can make any amount negative. */
export const Wei = z.string().regex(/^-?\d{1,30}$/);

/** Wei that cannot be negative. */
export const Amount = z.string().regex(/^\d{1,30}$/);

/** By so much a share may be outside 0 to 1 because the service rounds. */
const ROUNDING = 1e-9;

export const Share = z
  .number()
  .min(-ROUNDING)
  .max(1 + ROUNDING)
  .transform((share) => Math.min(1, Math.max(0, share)));

/** A share that penalties can make negative. */
export const Score = z.union([Share, z.number().min(-MAX_COUNT).negative()]);

/** Indices are kept in typed arrays of 32 bits, in which a larger number would become another validator. */
export function isValidatorIndex(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32;
}

export const ValidatorIndex = z.number().refine(isValidatorIndex);

/** In lower case, because roots are compared. */
export const Root = z.string().transform((root) => root.toLowerCase());

/** In code points: what a label can take without making every scrape large. */
const MAX_TEXT_LENGTH = 1_000;

/** A lone surrogate cannot be written as UTF-8: two names that differ only there would be one series. */
export const Text = z.string().refine((text) => text.isWellFormed() && isShort(text));

function isShort(text: string): boolean {
  return text.length <= MAX_TEXT_LENGTH || [...text].length <= MAX_TEXT_LENGTH;
}

/** What says whose a record is, even where it may be absent: a record in which it cannot be read is bad as a whole. */
export function identity<S extends z.ZodType>(schema: S) {
  const isRead = (value: unknown): value is z.output<S> => schema.safeParse(value).success;
  return z.custom<z.output<S>>(isRead, { params: { isIdentity: true } }).optional();
}

/** What stands in place of an odd field before it is null. */
export const ODD = Symbol('odd');

/** A field of which null says something. An odd one is read as `odd`. */
export function orOdd<S extends z.ZodType, const T>(schema: S, odd: T) {
  return z.union([schema, z.custom<typeof ODD>((value) => value === ODD).transform(() => odd)]);
}

/** Where the next page is. A `next_cursor` of false cannot be followed. */
export const Paging = orOdd(z.object({ next_cursor: z.string().nullish() }).nullish(), { next_cursor: false } as const);
