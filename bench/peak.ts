import { readFileSync, writeFileSync } from 'node:fs';

/** The most memory (RSS) of a process since it was forgotten, MiB. Linux alone tells it. */
export function peakMiB(pid = 0): number {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

/** From now on the peak is what is taken now (proc_pid_clear_refs(5)). */
export function forgetPeak(pid = 0): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
