import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the programs of the bench are. */
export const BUILT = join(import.meta.dirname, '../node_modules/.cache/bench');
/** The program as it is published. */
export const PROGRAM = join(BUILT, 'dist/main.js');
/** Options of Node with which it tells how it is. */
export const OBSERVE = ['--import', join(BUILT, 'bench/observe.js')];

export function build(): void {
  execFileSync('tsc', ['-p', join(import.meta.dirname, 'tsconfig.json')], { stdio: 'inherit' });
  copyFileSync(join(import.meta.dirname, '../package.json'), join(BUILT, 'package.json'));
  const script = join(import.meta.dirname, '../scripts/build.ts');
  execFileSync(process.execPath, [script, join(BUILT, 'dist')], { stdio: 'inherit' });
}
