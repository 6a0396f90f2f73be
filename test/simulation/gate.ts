/**
 * How a simulated process reaches what is outside of it. After the death of the process nothing that it does has an
 * effect, and no answer reaches it.
 */
export interface Gate {
  /** Makes one call: `effect` happens in the world, and the promise settles with its result or its error. */
  call<T>(name: string, effect: () => T): Promise<T>;
}
