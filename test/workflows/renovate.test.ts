import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const { packageRules } = JSON.parse(readFileSync('renovate.json', 'utf8'));

function group(name: string): { matchPackageNames: string[]; allowedVersions?: string } {
  return packageRules.find(({ groupName }: { groupName: string }) => groupName === name);
}

describe('renovate.json', () => {
  it('groups what the exporter uses, all of it, and leaves no major version of Node to chance', () => {
    const bundled = group('packages of the exporter').matchPackageNames;
    const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const known = Object.keys({ ...dependencies, ...devDependencies });
    expect(known).toEqual(expect.arrayContaining(bundled));
    // As the page on dependencies lists them.
    const rows = [...readFileSync('docs/internals/dependencies.md', 'utf8').matchAll(/^\| `(\S+)` \|/gm)];
    expect(rows.map(([, name]) => name)).toEqual(bundled);
    const [major] = devDependencies.node.split('.');
    expect(group('Node').allowedVersions).toBe(`<${Number(major) + 1}`);
  });
});
