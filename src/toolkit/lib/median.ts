/** The middle number, or the larger one of two. Undefined without numbers. */
export function median(numbers: readonly number[]): number | undefined {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}
