import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { hasCode } from '../lib/error-code.ts';

/** Who holds a lock, as it stands in it. Locks of earlier versions lack the later fields. */
export const Holder = z.object({
  pid: z.number(),
  /** When it was started: tells a process from a later one of its number. */
  started: z.string(),
  host: z.string(),
  /** Of the machine, since its last start. */
  boot: z.string().optional(),
  /** Where the number counts: each container has a process 1. */
  namespace: z.string().optional(),
  /** No two locks are equal. */
  id: z.string().optional(),
});
export type Holder = z.infer<typeof Holder>;

export function thisProcess(): Holder {
  return {
    pid: process.pid,
    started: look(process.pid).started,
    host: hostname(),
    // systemd's ProcSubset=pid hides the first.
    boot: textOf('/proc/sys/kernel/random/boot_id') || textOf('/etc/machine-id'),
    namespace: namespace(),
    id: randomUUID(),
  };
}

/**
 * Whether the holder is known to live. Only a process that counts processes as we do can be looked up: a container on this
 * host, or another host, may have one of the same number.
 */
export function fateOf(holder: Holder | undefined, mine: Holder): 'alive' | 'dead' | 'unknown' {
  if (!holder) return 'unknown';
  const { host, boot, namespace, pid, started } = holder;
  if (host !== mine.host || boot !== mine.boot || namespace !== mine.namespace) return 'unknown';
  if (!exists(pid)) return 'dead';
  const now = look(pid);
  if (now.isZombie) return 'dead';
  if (started === '' || now.started === '') return 'unknown';
  return started === now.started ? 'alive' : 'dead';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** Start time of a process in ticks since boot (proc(5), field 22 of stat); '' where there is no /proc, or it hides it. */
function look(pid: number): { started: string; isZombie: boolean } {
  // The name in field 2 may hold anything, also spaces and parentheses.
  const fields = (textOf(`/proc/${pid}/stat`).split(') ').at(-1) ?? '').split(' ');
  // A zombie is dead, but keeps its number until it is waited for.
  return { started: fields[19] ?? '', isZombie: fields[0] === 'Z' };
}

function namespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
