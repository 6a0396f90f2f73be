import { describe, expect, it } from 'vitest';
import { releaseNotes } from '../../scripts/release-notes.ts';

const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.2.3 - 2026-12-01\n\n- Old.\n- Older.\n\n## 1.2.2\n\n## 1.2\n';

describe('scripts/release-notes', () => {
  it('are what the changelog says of the version', () => {
    expect(releaseNotes('v1.2.3', '1.2.3', CHANGELOG)).toBe('- Old.\n- Older.\n');
  });

  it.each([
    ['v1.2.4', '1.2.3', 'the tag is v1.2.4, package.json says 1.2.3'],
    ['v1.2.4', '1.2.4', 'has no heading "## 1.2.4"'],
    ['v1.2.2', '1.2.2', 'says nothing of 1.2.2'],
  ])('are refused for the tag %s and the version %s', (tag, version, message) => {
    expect(() => releaseNotes(tag, version, CHANGELOG)).toThrow(message);
  });
});
