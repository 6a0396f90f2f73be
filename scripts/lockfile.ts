import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** One package in package-lock.json. */
export interface LockedPackage {
  readonly license?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  /** Only tools need it. */
  readonly dev?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Packages by path, such as `node_modules/a/node_modules/b`. '' is the project itself. */
export type Lockfile = Readonly<Record<string, LockedPackage>>;

export function readLockfile(): Lockfile {
  return JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
}

/** The packages that the program imports. */
export function bundledPackages(): string[] {
  return Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).dependencies);
}

/** Packages in a lockfile that cannot be verified, and bundled ones that run a script when they are installed. */
export function complaints(lock: Lockfile, bundled: ReadonlySet<string>): string[] {
  return Object.entries(lock).flatMap(([path, { resolved, integrity, hasInstallScript }]) => {
    if (path === '') return [];
    return [
      // Without an address it comes from the registry that npm is configured for, by default the public one.
      ...(resolved === undefined ? [] : [`${path} comes from ${resolved}`]),
      ...(integrity?.startsWith('sha512-') ? [] : [`${path} has no sha512`]),
      ...(hasInstallScript && bundled.has(path) ? [`${path} runs a script when it is installed`] : []),
    ];
  });
}

/** The paths of a package and of all its dependencies. */
export function withAllItBrings(lock: Lockfile, name: string): string[] {
  const found = new Set<string>();
  const visit = (from: string, wanted: string): void => {
    const path = resolve(lock, from, wanted);
    if (found.has(path)) return;
    found.add(path);
    for (const next of Object.keys(lock[path]?.dependencies ?? {})) visit(path, next);
  };
  visit('', name);
  return [...found];
}

/** The path of a dependency, found as Node finds it: in the package's own folder, then in each parent folder. */
function resolve(lock: Lockfile, from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (lock[path]) return path;
    if (folder === '') throw new Error(`${name} is not in the lockfile`);
  }
}

/** The size of an installed package in bytes, without nested packages. */
export function sizeOf(path: string): number {
  const bytesIn = (folder: string): number =>
    readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
      const inside = join(folder, entry.name);
      if (!entry.isDirectory()) return sum + statSync(inside).size;
      return entry.name === 'node_modules' ? sum : sum + bytesIn(inside);
    }, 0);
  return bytesIn(join(ROOT, path));
}
