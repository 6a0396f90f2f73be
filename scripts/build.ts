import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { bundle } from './bundle.ts';

/** Writes dist/, or the folder that is given: JavaScript, because Node does not strip types under node_modules. */
const folder = resolve(process.argv[2] ?? 'dist');
rmSync(folder, { recursive: true, force: true });
await bundle(folder);
chmodSync(`${folder}/main.js`, 0o755);
writeFileSync(`${folder}/build.json`, JSON.stringify({ revision: revision() }));

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
