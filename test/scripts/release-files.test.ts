import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { originOf } from '../../scripts/pack.ts';
import { checksums, releaseNotes } from '../../scripts/release-files.ts';
import { temporaryFolder } from '../support/files/files.ts';

const RUN = { GITHUB_SERVER_URL: 'https://git.example', GITHUB_REPOSITORY: 'Some-One/exporter' };

const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.2.3 - 2026-12-01\n\n- Old.\n- Older.\n\n## 1.2.2\n\n## 1.2\n';

it('the notes are the section of the version in the changelog', () => {
  expect(releaseNotes('v1.2.3', '1.2.3', CHANGELOG)).toBe('- Old.\n- Older.\n');
});

it.each([
  ['v1.2.4', '1.2.3', 'the tag is v1.2.4, package.json says 1.2.3'],
  ['v1.2.4', '1.2.4', 'has no heading "## 1.2.4"'],
  ['v1.2.2', '1.2.2', 'says nothing of 1.2.2'],
  ['v1.2.3-rc.1', '1.2.3-rc.1', 'expected three numbers'],
])('the tag %s is refused for the version %s', (tag, version, message) => {
  expect(() => releaseNotes(tag, version, CHANGELOG)).toThrow(message);
});

it('package.json names the repository of the workflow, and none outside of one', () => {
  expect(originOf(RUN)).toEqual({
    repository: { type: 'git', url: 'git+https://git.example/Some-One/exporter.git' },
    homepage: 'https://git.example/Some-One/exporter#readme',
    bugs: { url: 'https://git.example/Some-One/exporter/issues' },
  });
  expect(originOf({})).toEqual({});
  expect(originOf({ ...RUN, GITHUB_REPOSITORY: '' })).toEqual({});
});

it('runs up to the changelog of this version', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const output = join(temporaryFolder(), 'again');
  const args = ['scripts/release-files.ts', `--tag=v${version}`, `--output=${output}`];
  const { stdout, stderr } = spawnSync('node', args, { encoding: 'utf8', env: { ...process.env, ...RUN } });
  const isCut = readFileSync('CHANGELOG.md', 'utf8').includes(`\n## ${version} `);
  if (isCut) expect(stdout.trim().split('\n').at(-1)).toBe('SHA256SUMS');
  else expect(stderr).toContain(`CHANGELOG.md has no heading "## ${version}"`);
});

it('checksums are in the form that sha256sum checks', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'a.tgz'), 'content');
  writeFileSync(join(folder, 'SHA256SUMS'), checksums([['a.tgz', Buffer.from('content')]]));
  const check = (): number | null =>
    spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder }).status;
  expect(check()).toBe(0);
  writeFileSync(join(folder, 'a.tgz'), 'other content');
  expect(check()).toBe(1);
});
