import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const { packageRules } = JSON.parse(readFileSync('renovate.json', 'utf8'));

function group(name: string): { matchDepTypes?: string[]; allowedVersions?: string } {
  return packageRules.find(({ groupName }: { groupName: string }) => groupName === name);
}

describe('renovate.json', () => {
  it('groups what the exporter uses, all of it, and leaves no major version of Node to chance', () => {
    expect(group('packages of the exporter').matchDepTypes).toEqual(['dependencies']);
    const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const [major] = devDependencies.node.split('.');
    expect(group('Node').allowedVersions).toBe(`<${Number(major) + 1}`);
  });
});
