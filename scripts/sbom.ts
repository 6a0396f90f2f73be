/**
 * Writes what the bundle contains as CycloneDX on stdout: `npm run sbom`. npm is given the project as if it depended on the
 * bundled packages and on nothing else.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledPackages, readLockfile, withAllItBrings } from './lockfile.ts';

function read(name: string): Record<string, Record<string, Record<string, unknown>>> {
  return JSON.parse(readFileSync(join(import.meta.dirname, '..', name), 'utf8'));
}

const outer = mkdtempSync(join(tmpdir(), 'sbom-'));
// npm names the project after its folder.
const folder = join(outer, 'beaconchain-exporter');
mkdirSync(folder);
try {
  const { devDependencies, ...project } = read('package.json');
  const { packages = {}, ...lock } = read('package-lock.json');
  const names = bundledPackages();
  const dependencies = Object.fromEntries(names.map((name) => [name, devDependencies?.[name]]));
  const { devDependencies: _, ...root } = packages[''] ?? {};
  const paths = new Set(names.flatMap((name) => withAllItBrings(readLockfile(), name)));
  const bundled = [...paths].map((path) => {
    const { dev: __, ...entry } = packages[path] ?? {};
    return [path, entry];
  });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...project, dependencies }));
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ ...lock, packages: { '': { ...root, dependencies }, ...Object.fromEntries(bundled) } }),
  );
  const options = ['--package-lock-only', '--sbom-format=cyclonedx'];
  execFileSync('npm', ['sbom', ...options], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
} finally {
  rmSync(outer, { recursive: true });
}
