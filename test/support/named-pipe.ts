import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file that does not answer: who opens it to read waits until somebody opens it to write. */
export function makePipe(file: string): void {
  execFileSync('mkfifo', [file]);
}

/** Of a process (Linux): the threads that wait for somebody to write into a named pipe. */
export function threadsThatWaitForWriters(pid: number | undefined): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).filter((task) => readFileSync(join(tasks, task, 'wchan'), 'utf8') === 'wait_for_partner')
    .length;
}
