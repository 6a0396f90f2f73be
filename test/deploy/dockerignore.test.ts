import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** The rules of Docker: the last pattern decides that matches a path or a folder above it. */
const RULES = readFileSync('.dockerignore', 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const pattern = line
      .replace('!', '')
      .replace(/[.]/g, '\\.')
      .replace(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(?:.*/)?'));
    return { isKept: line.startsWith('!'), matches: new RegExp(`^${pattern}(?:/|$)`) };
  });

function isSent(path: string): boolean {
  return RULES.findLast(({ matches }) => matches.test(path))?.isKept ?? true;
}

const CODE = /^(src|scripts)\/(?!dashboard-pictures\/).*\.ts$/;
const OTHERS = [
  'LICENSE',
  'config.example.yaml',
  'package-lock.json',
  'package.json',
  'scripts/image-root',
  'src/commands/old-node.js',
  'tsconfig.json',
];

it('.dockerignore sends exactly the files that the image is built from', () => {
  const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
  const needed = tracked.filter(
    (file) => CODE.test(file) || OTHERS.includes(file) || /^docs\/([\w-]+\.md|images\/.*)$/.test(file),
  );
  expect(needed.length).toBeGreaterThan(200);
  expect(needed.filter((file) => !isSent(file))).toEqual([]);
  const sent = tracked.filter(isSent).filter((file) => !/^scripts\/[\w-]+$/.test(file));
  expect(sent.filter((file) => !needed.includes(file))).toEqual([]);
});

it.each([
  '.env',
  'src/commands/.env.local',
  'scripts/.env',
  'docs/.env',
  'docs/images/api-key',
  'src/api-key',
  'scripts/deep/api-key',
  'src/beaconchain-exporter-state/lock',
  'node_modules/zod/index.ts',
])('.dockerignore keeps %s out', (path) => {
  expect(isSent(path)).toBe(false);
});
