/** The code of an error, such as ENOENT of a system call; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && error.code ? String(error.code) : undefined;
}

/** Why a file or directory cannot be used. */
export const CODE_MEANINGS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'it is a file',
  EISDIR: 'it is a directory',
  EFTYPE: 'it is not a regular file',
  // Of a socket.
  ENXIO: 'it is not a regular file',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EILSEQ: 'it is not UTF-8: save it as UTF-8',
  EFBIG: 'it has more than 16 MiB, expected a smaller file',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'its symbolic links form a loop',
};

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(codeOf(error) ?? '');
}

/** The end of a message: to whom access is denied. A container or a service may not run as the user who tries it by hand. */
export function toWhom(error: unknown): string {
  return hasCode(error, 'EACCES', 'EPERM') ? ` (to user ${process.getuid?.()})` : '';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
