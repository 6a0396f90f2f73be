import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';

/** Emits dist/: Node does not strip types under node_modules, so what is published is JavaScript. */
rmSync('dist', { recursive: true, force: true });
execFileSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
chmodSync('dist/main.js', 0o755);
writeFileSync('dist/build.json', JSON.stringify({ revision: revision() }));

/** Given by whoever builds without a checkout (a container image, say), else asked of git. */
function revision(): string {
  const given = process.env['REVISION'];
  if (given) return given;
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return '';
  }
}
