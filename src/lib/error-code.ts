/** Whether this is an error with one of these codes, such as ENOENT of a system call. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
