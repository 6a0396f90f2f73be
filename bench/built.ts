import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the programs of the bench are. */
export const BUILT = join(import.meta.dirname, '../node_modules/.cache/bench');
/** The program as it is published. */
export const PROGRAM = join(BUILT, 'dist/main.js');
/** Options of Node with which it tells how it is. */
export const OBSERVE = ['--import', join(BUILT, 'bench/observe.js')];

/** How the image and the systemd unit have glibc allocate memory. */
export function tunables(): string {
  const file = join(import.meta.dirname, '../Dockerfile');
  const [, value] = /GLIBC_TUNABLES=(\S+)/.exec(readFileSync(file, 'utf8')) ?? [];
  if (value === undefined) throw new Error(`${file} sets no GLIBC_TUNABLES`);
  return value;
}

export function build(): void {
  execFileSync('tsc', ['-p', join(import.meta.dirname, 'tsconfig.json')], { stdio: 'inherit' });
  copyFileSync(join(import.meta.dirname, '../package.json'), join(BUILT, 'package.json'));
  const script = join(import.meta.dirname, '../scripts/build.ts');
  execFileSync(process.execPath, [script, join(BUILT, 'dist')], { stdio: 'inherit' });
}
