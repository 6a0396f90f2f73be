import type * as z from 'zod';

/** Keeps values by name over restarts. */
export interface StateStore {
  /**
   * Undefined: there is none, or it cannot be read and was moved aside with a warning.
   * @throws StateOfOtherVersion, and leaves the document as it is
   */
  load<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined>;
  /**
   * Resolves when the value survives the end of this process and, in files, a loss of power. The value must not change
   * until then.
   */
  save(name: string, value: unknown): Promise<void>;
}
