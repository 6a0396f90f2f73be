import { describe, expect, it } from 'vitest';
import { readableText, visible } from '../../../src/toolkit/lib/text.ts';

describe('lib/text', () => {
  it('shows control characters and direction marks as escapes', () => {
    expect(visible('a\n\u001b[2J\u009b\u202e\u2028\u{e0001}é🏠')).toBe(
      String.raw`a\u000a\u001b[2J\u009b\u202e\u2028\udb40\udc01é🏠`,
    );
  });

  it('replaces each NUL and each lone surrogate', () => {
    expect(readableText('\0a\0')).toBe('\ufffda\ufffd');
    expect(readableText('\ud83c|\udfe0|\udfe0\ud83c')).toBe('\ufffd|\ufffd|\ufffd\ufffd');
  });
});
