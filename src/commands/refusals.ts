import { addressText } from '../toolkit/yaml/fields.ts';

/** A command cannot continue; the message says why. */
export class CommandRefused extends Error {}

interface ListenError extends Error {
  readonly code: string;
  /** For a name that cannot be resolved, `hostname` is set. */
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
  /** The flag of the address, if it is not that of the exporter. */
  readonly flag?: string;
}

export function isListenError(error: unknown): error is ListenError {
  return (
    error instanceof Error && 'syscall' in error && (error.syscall === 'listen' || error.syscall === 'getaddrinfo')
  );
}

/** Why the program cannot listen, and which setting to change. */
export function listenRefusal(error: ListenError): string {
  const { code, address, hostname, port } = error;
  const host = address ?? hostname ?? '';
  const where = port === undefined ? host : addressText({ host, port });
  const setting = error.flag ?? '--web.listen-address or web.listen_address in the configuration';
  const problem = code === 'EADDRINUSE' ? `the address ${where} is taken` : `cannot listen on ${where}: ${code}`;
  return `${problem}: choose another one with ${setting}`;
}
