import { join, relative } from 'node:path';

/** The address of a Unix socket, without the byte that ends it (sys/un.h of Linux and of macOS). */
const MAX_BYTES = { linux: 107, other: 103 };

/** Where the exporter that uses a state directory listens for a backfill; undefined: the path is too long for a socket. */
export function socketPathOf(dir: string, platform: string = process.platform): string | undefined {
  const path = join(dir, 'api.sock');
  const max = platform === 'linux' ? MAX_BYTES.linux : MAX_BYTES.other;
  // Seen from the working directory the path may be shorter.
  return [path, `./${relative('', path)}`].find((one) => Buffer.byteLength(one) <= max);
}
