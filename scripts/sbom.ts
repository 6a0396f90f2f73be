/**
 * Writes what is installed with the exporter as CycloneDX on stdout: `npm run sbom`.
 *
 * Not `npm sbom --omit=dev` here: that leaves out what a development tool happens to use as well (zod, yaml). So npm is
 * given the project as if it had no development dependencies.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function read(name: string): Record<string, Record<string, Record<string, unknown>>> {
  return JSON.parse(readFileSync(join(import.meta.dirname, '..', name), 'utf8'));
}

const outer = mkdtempSync(join(tmpdir(), 'sbom-'));
// npm names the project after its folder.
const folder = join(outer, 'beaconchain-exporter');
mkdirSync(folder);
try {
  const { devDependencies: _, ...project } = read('package.json');
  const { packages = {}, ...lock } = read('package-lock.json');
  const { devDependencies: __, ...root } = packages[''] ?? {};
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev);
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ ...lock, packages: { '': root, ...Object.fromEntries(installed) } }),
  );
  const options = ['--package-lock-only', '--sbom-format=cyclonedx'];
  execFileSync('npm', ['sbom', ...options], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
} finally {
  rmSync(outer, { recursive: true });
}
