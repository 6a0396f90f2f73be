import * as z from 'zod';

/**
 * The readers of fields. Sources read numbers, amounts and times only with these, so that every value can be saved as JSON. A
 * field is optional unless it names the owner or the time of a record.
 */

/** No real count is larger. Thousands of such numbers still have a finite sum. */
const MAX_COUNT = 1e15;
/** Servers send more than 1e15 bytes between two boots. */
const MAX_BYTES = 1e18;
const MAX_UNIX_SECONDS = 1e11;

export const Count = z.int().nonnegative().max(MAX_COUNT);
/** An epoch, slot or day, counted from genesis. */
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

/** The service rounds, so a share may be outside 0 to 1 by this much. */
const ROUNDING = 1e-9;

export const Share = z
  .number()
  .min(-ROUNDING)
  .max(1 + ROUNDING)
  .transform((share) => Math.min(1, Math.max(0, share)));

/** A share that penalties can make negative. */
export const Score = z.union([Share, z.number().min(-MAX_COUNT).negative()]);

/** Typed arrays of 32 bits hold the indices: a larger number would become another validator. */
export function isValidatorIndex(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32;
}

export const ValidatorIndex = z.number().refine(isValidatorIndex);

/** In lower case, because the exporter compares roots. */
export const Root = z.string().transform((root) => root.toLowerCase());

/** In code points. A longer label would make every scrape large. */
const MAX_TEXT_LENGTH = 1_000;

/** UTF-8 cannot express a lone surrogate: two names that differ only there would be one series. */
export const Text = z.string().refine((text) => text.isWellFormed() && isShort(text));

function isShort(text: string): boolean {
  return text.length <= MAX_TEXT_LENGTH || [...text].length <= MAX_TEXT_LENGTH;
}

/** The owner of a record. If this field is present and unreadable, the whole record is bad. */
export function identity<S extends z.ZodType>(schema: S) {
  const isRead = (value: unknown): value is z.output<S> => schema.safeParse(value).success;
  return z.custom<z.output<S>>(isRead, { params: { isIdentity: true } }).optional();
}

/** Records that are read one by one. A schema for each of 600,000 items would block the event loop for 110 ms. */
export const List = z.custom<unknown[]>((value) => Array.isArray(value), {
  error: ({ input }) => `Invalid input: expected array, received ${input === null ? 'null' : typeof input}`,
});

/** Marks an odd field until null replaces it. */
export const ODD = Symbol('odd');

/** For a field whose null has a meaning: an odd value becomes `odd`. */
export function orOdd<S extends z.ZodType, const T>(schema: S, odd: T) {
  return z.union([schema, z.custom<typeof ODD>((value) => value === ODD).transform(() => odd)]);
}

/** A `next_cursor` of false is unreadable, so there is no next page to read. */
export const Paging = orOdd(z.object({ next_cursor: z.string().nullish() }).nullish(), { next_cursor: false } as const);
