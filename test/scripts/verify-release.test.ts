import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageComplaints } from '../../scripts/check-package.ts';
import { checkVersions, NODES, STEPS } from '../../scripts/verify-release.ts';

const CHANGELOG = '# Changelog\n\n## Unreleased\n\n- New.\n';
const CUT = CHANGELOG.replace('- New', '## 1.2.3 - 2026-12-01\n\n- New');

describe('scripts/verify-release', () => {
  it('tries the package on the versions of Node that the workflow tries, which are those that it supports', () => {
    const { jobs } = parse(readFileSync('.github/workflows/ci.yml', 'utf8'));
    expect(jobs.package.strategy.matrix.node).toEqual(NODES);
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(engines.node).toBe(`>=${NODES[0]}`);
  });

  it('a pre-release is refused before anything is tested or published', () => {
    const changelog = CUT.replace('1.2.3', '1.2.3-rc.1');
    expect(() => checkVersions('v1.2.3-rc.1', '1.2.3-rc.1', changelog)).toThrow('expected three numbers');
    const { jobs } = parse(readFileSync('.github/workflows/release.yml', 'utf8'));
    const runs = jobs.test.steps.flatMap(({ run }: { run?: string }) => run ?? []);
    expect(runs[0]).toContain('scripts/release-notes.ts');
  });

  it('every step names files that are there', () => {
    const files = STEPS.flatMap(({ command }) => command.filter((word) => /^(test|scripts)\//.test(word)));
    // `test/dashboard` is a prefix of several.
    for (const file of files) expect(existsSync(file) || file === 'test/dashboard', file).toBe(true);
    expect(files.length).toBeGreaterThan(8);
  });

  it.each<[string, string | undefined, string, string | undefined]>([
    ['a tag and its heading', 'v1.2.3', CUT, undefined],
    ['no tag, and nothing was cut', undefined, CHANGELOG, undefined],
    ['a tag without a heading', 'v1.2.3', CHANGELOG, 'CHANGELOG.md has no heading "## 1.2.3"'],
    ['a tag of another version', 'v1.2.4', CUT, 'the tag is v1.2.4, package.json says 1.2.3'],
    ['nothing to release', undefined, CHANGELOG.replace('- New.', ''), 'says nothing under "## Unreleased"'],
  ])('versions: %s', (_, tag, changelog, refusal) => {
    const check = (): string => checkVersions(tag, '1.2.3', changelog);
    if (refusal === undefined) expect(check()).toBe('- New.\n');
    else expect(check).toThrow(refusal);
  });

  it('finds what is in the package and should not be, and what is missing', () => {
    const good = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'dist/main.js', 'dist/build.json'];
    const files = [...good, 'dist/LICENSES.txt', 'dist/program/a-1.js', 'dist/docs/index.html'];
    expect(packageComplaints(files)).toEqual([]);
    expect(packageComplaints([...files, '.env', 'src/main.ts', 'docs/alerts.md'])).toEqual([
      '.env is in the package',
      'src/main.ts is in the package',
      'docs/alerts.md is in the package',
    ]);
    expect(packageComplaints(good)).toEqual([
      'dist/docs/index.html is not in the package',
      'dist/LICENSES.txt is not in the package',
    ]);
  });
});
