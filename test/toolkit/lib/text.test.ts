import { expect, it } from 'vitest';
import { invisibleIn, readableText, visible } from '../../../src/toolkit/lib/text.ts';

it('shows control characters, marks and unusual spaces as escapes', () => {
  expect(visible('a b\r\n\t\u001b[2J\u009b\u202e\u2028\u{e0001}\u00a0\u3000\u200b\ufeffé🏠')).toBe(
    String.raw`a b\r\n\t\u001b[2J\u009b\u202e\u2028\udb40\udc01\u00a0\u3000\u200b\ufeffé🏠`,
  );
});

it('names invisible characters without the text around them', () => {
  expect(invisibleIn('s3cret\n\u00a0s3cret\n')).toBe(String.raw`it contains "\n", "\u00a0", which cannot be seen`);
  expect(invisibleIn('pass word é🏠')).toBeUndefined();
});

it('replaces each NUL and each lone surrogate', () => {
  expect(readableText('\0a\0')).toBe('\ufffda\ufffd');
  expect(readableText('\ud83c|\udfe0|\udfe0\ud83c')).toBe('\ufffd|\ufffd|\ufffd\ufffd');
});
