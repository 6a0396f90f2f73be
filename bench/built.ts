import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the program is, as it is published. */
export const BUILT = join(import.meta.dirname, '../node_modules/.cache/bench');
/** Options of Node with which it tells how it is. */
export const OBSERVE = ['--import', join(BUILT, 'bench/observe.js')];

export function build(): void {
  execFileSync('tsc', ['-p', join(import.meta.dirname, 'tsconfig.json')], { stdio: 'inherit' });
  copyFileSync(join(import.meta.dirname, '../package.json'), join(BUILT, 'package.json'));
}
