import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bundledPackages, complaints, readLockfile, sizeOf, withAllItBrings } from '../scripts/lockfile.ts';
import { billOfMaterials } from '../scripts/release-files.ts';

const ROOT = join(import.meta.dirname, '..');
const DOCUMENT = readFileSync(join(ROOT, 'docs/internals/dependencies.md'), 'utf8');
const PACKAGE: Readonly<Record<'dependencies' | 'devDependencies', Record<string, string>>> = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);
const LOCK = readLockfile();
const NAMES = bundledPackages();
const BUNDLED = new Set(NAMES.flatMap((name) => withAllItBrings(LOCK, name)));

/** The rows of the table: package, licence, packages it brings, megabytes, who keeps it, why. */
const ROWS = [...DOCUMENT.matchAll(/^\| `(\S+)` \|(.*)\|$/gm)].map(([, name = '', rest = '']) => ({
  name,
  cells: rest.split('|').map((cell) => cell.trim()),
}));

interface Bom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly { readonly name: string }[];
}

/** What the first cells must say. */
function facts(name: string): string[] {
  const paths = withAllItBrings(LOCK, name);
  const bytes = paths.reduce((sum, path) => sum + sizeOf(path), 0);
  return [LOCK[`node_modules/${name}`]?.license ?? '', String(paths.length - 1), (bytes / 1e6).toFixed(1)];
}

it('are exactly the packages that src imports', () => {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).map((file) => readFileSync(join(ROOT, file), 'utf8'));
  const imports = files.flatMap((text) =>
    [...text.matchAll(/(?: from |\bimport\()'((?:@[^/']+\/)?[^/'.][^/']*)/g)].map(([, name = '']) => name),
  );
  expect(Object.keys(PACKAGE.dependencies)).toEqual(
    [...new Set(imports)].filter((name) => !isBuiltin(name)).toSorted(),
  );
});

it('are all that the lockfile installs with --omit=dev', () => {
  const installed = Object.keys(LOCK).filter((path) => path !== '' && !LOCK[path]?.dev);
  expect(installed.toSorted()).toEqual([...BUNDLED].toSorted());
});

it('are listed in docs/internals/dependencies.md, in order', () => {
  expect(ROWS.map(({ name }) => name)).toEqual(NAMES.toSorted());
});

it.each(NAMES)('docs/internals/dependencies.md describes %s', (name) => {
  const cells = ROWS.find((row) => row.name === name)?.cells ?? [];
  expect(cells.slice(0, 3)).toEqual(facts(name));
  expect(cells).toHaveLength(5);
  for (const words of cells.slice(3)) expect(words.length, name).toBeGreaterThan(5);
});

it('number as many as docs/internals/dependencies.md says', () => {
  const megabytes = Math.round([...BUNDLED].reduce((sum, path) => sum + sizeOf(path), 0) / 1e6);
  expect(DOCUMENT).toContain(`${NAMES.length} packages, ${BUNDLED.size} with their dependencies, ${megabytes} MB`);
});

it('are pinned to one version', () => {
  for (const [name, version] of Object.entries({ ...PACKAGE.dependencies, ...PACKAGE.devDependencies })) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
  }
});

it('come from the registry with a checksum, and bundled ones run no install script', () => {
  expect(complaints(LOCK, BUNDLED)).toEqual([]);
});

it('are refused with an address, without a checksum, or with an install script', () => {
  const integrity = 'sha512-x';
  const lock = {
    '': {},
    'node_modules/good': { integrity },
    'node_modules/tool': { integrity, hasInstallScript: true },
    'node_modules/a': { integrity, hasInstallScript: true },
    'node_modules/b': { integrity: 'sha1-x' },
    'node_modules/c': { resolved: 'git+ssh://git@example.org/c.git', integrity },
  };
  const told = complaints(lock, new Set(['node_modules/a', 'node_modules/b', 'node_modules/c']));
  expect(told.map((line) => line.split(' ')[0])).toEqual(['node_modules/a', 'node_modules/b', 'node_modules/c']);
});

it('are listed in the release, without tools of development', () => {
  const { bomFormat, metadata, components }: Bom = JSON.parse(billOfMaterials());
  const names = [...BUNDLED].map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  expect([bomFormat, metadata.component.name]).toEqual(['CycloneDX', 'beaconchain-exporter']);
  expect(new Set(components.map(({ name }) => name))).toEqual(new Set(names));
});
