import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import * as z from 'zod';
import { hasCode } from '../lib/error-code.ts';

/** The process that holds a lock, as written in the lock file. Earlier versions do not write the optional fields. */
export const Holder = z.object({
  pid: z.number(),
  /** Start time: tells the process from a later one with the same pid. */
  started: z.string(),
  host: z.string(),
  /** Identifies the machine since it was booted. */
  boot: z.string().optional(),
  /** The pid namespace: each container has a process 1 of its own. */
  namespace: z.string().optional(),
  /** Random, so that no two locks have the same text. */
  id: z.string().optional(),
});
export type Holder = z.infer<typeof Holder>;

/** The machine that runs this process. Tests replace it, as all their processes are one. */
export interface Host {
  /** How a lock names this process. */
  thisProcess(): Holder;
  /** A process in our own pid namespace; undefined: there is none. */
  find(pid: number): FoundProcess | undefined;
}

interface FoundProcess {
  /** '' where it is not known. */
  readonly started: string;
  /** Dead, but keeps its pid until its parent has waited for it. */
  readonly isZombie: boolean;
}

export const realHost: Host = {
  thisProcess,
  find: (pid) => (exists(pid) ? processStat(pid) : undefined),
};

export function thisProcess(): Holder {
  return {
    pid: process.pid,
    started: processStat(process.pid).started,
    host: hostname(),
    // The first file is hidden under systemd's ProcSubset=pid.
    boot: readText('/proc/sys/kernel/random/boot_id') || readText('/etc/machine-id'),
    namespace: pidNamespace(),
    id: randomUUID(),
  };
}

/**
 * Whether the holder is alive. It can be looked up only in our own pid namespace on our own machine: elsewhere the same pid
 * is another process.
 */
export function livenessOf(holder: Holder | undefined, mine: Holder, on: Host): 'alive' | 'dead' | 'unknown' {
  if (!holder) return 'unknown';
  const { host, boot, namespace, pid, started } = holder;
  if (host !== mine.host || boot !== mine.boot || namespace !== mine.namespace) return 'unknown';
  const found = on.find(pid);
  if (!found || found.isZombie) return 'dead';
  if (started === '' || found.started === '') return 'unknown';
  return started === found.started ? 'alive' : 'dead';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** From proc(5), stat. `started` is field 22, in ticks since boot; '' where /proc is missing or hides the process. */
function processStat(pid: number): FoundProcess {
  // The name in field 2 may contain spaces and parentheses.
  const fields = (readText(`/proc/${pid}/stat`).split(') ').at(-1) ?? '').split(' ');
  return { started: fields[19] ?? '', isZombie: fields[0] === 'Z' };
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
