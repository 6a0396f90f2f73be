import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { socketPathOf } from '../../src/sharing/socket-path.ts';

describe('sharing/socket-path', () => {
  it('is in the state directory', () => {
    expect(socketPathOf('/var/lib/state', 'linux')).toBe('/var/lib/state/api.sock');
  });

  it.each([
    ['linux', 107],
    ['darwin', 103],
  ])('on %s has at most %i bytes', (platform, bytes) => {
    const dir = `/${'é'.repeat((bytes - 11) / 2)}x`;
    const name = '/api.sock';
    expect(Buffer.byteLength(dir + name)).toBe(bytes);
    expect(socketPathOf(dir, platform)).toBe(dir + name);
    expect(socketPathOf(`${dir}x`, platform)).toBeUndefined();
  });

  it('is relative to the working directory where only that is short enough', () => {
    const name = 'y'.repeat(95);
    expect(socketPathOf(join(process.cwd(), name), 'linux')).toBe(`./${name}/api.sock`);
  });
});
