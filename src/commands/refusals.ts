import { addressText } from '../toolkit/yaml/fields.ts';

/** A command cannot continue; the message says why. */
export class CommandRefused extends Error {}

interface ListenError extends Error {
  readonly code: string;
  /** For a name that cannot be resolved, `hostname` is set. */
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
  /** What to do. Default: change the address of the exporter. */
  readonly remedy?: string;
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
  const problem = code === 'EADDRINUSE' ? `the address ${where} is taken` : `cannot listen on ${where}: ${code}`;
  const other =
    error.remedy ?? 'choose another one with --web.listen-address or web.listen_address in the configuration';
  // The kernel refuses a port by the user with EACCES. EPERM comes from a filter such as systemd's SocketBindDeny=.
  return code === 'EPERM' ? `${problem}: ${allow(port)}` : `${problem}: ${other}`;
}

function allow(port: number | undefined): string {
  return `the unit of systemd forbids this port: add SocketBindAllow=tcp:${port} below [Service] with systemctl edit`;
}
