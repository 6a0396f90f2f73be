import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isVersion, VERSIONED, versionsIn, withHeading, withVersion } from '../../scripts/cut-release.ts';
import { releaseNotes } from '../../scripts/release-files.ts';

const CHANGELOG = '# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.2.2 - 2026-01-01\n\n- Old.\n';

it('all files name one version', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const file of VERSIONED)
    expect([...new Set(versionsIn(file, readFileSync(file, 'utf8')))], file).toEqual([version]);
});

it.each(VERSIONED)('%s gets the new version, and nothing else changes', (file) => {
  const text = readFileSync(file, 'utf8');
  const [version = ''] = versionsIn(file, text);
  const cut = withVersion(file, text, '98.76.54');
  expect([...new Set(versionsIn(file, cut))]).toEqual(['98.76.54']);
  expect(cut).not.toBe(text);
  expect(withVersion(file, cut, version)).toBe(text);
});

it('unreleased changes get a heading, and become the notes of the release', () => {
  const cut = withHeading(CHANGELOG, '1.2.3', '2026-12-01');
  expect(cut).toBe(CHANGELOG.replace('## Unreleased\n', '## Unreleased\n\n## 1.2.3 - 2026-12-01\n'));
  expect(releaseNotes('v1.2.3', '1.2.3', cut)).toBe('- New.\n');
});

it.each([
  ['nothing is unreleased', CHANGELOG.replace('- New.\n', ''), '1.2.3', 'says nothing under "## Unreleased"'],
  ['the version is there', CHANGELOG, '1.2.2', 'has 1.2.2 already'],
])('refuses if %s', (_, changelog, version, message) => {
  expect(() => withHeading(changelog, version, '2026-12-01')).toThrow(message);
});

it('a version is three numbers without zeros in front', () => {
  const given = ['1.2.3', '0.10.0', '01.2.3', '1.02.3', '1.2', 'v1.2.3', '1.2.3-rc.1', ''];
  expect(given.filter(isVersion)).toEqual(['1.2.3', '0.10.0']);
});
