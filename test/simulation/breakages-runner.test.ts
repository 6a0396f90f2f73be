import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../support/files.ts';
import type { Breakage } from './breakages/breakage.ts';
import { missed, tableOf, withBreakages } from './breakages/report.ts';
import { type BreakageResult, runBreakages } from './breakages/runner.ts';

/** A program of one number, and a simulation that fails at that seed. */
const PROGRAM = 'export const failsAt: number = 0;\n';
const SIMULATION = `import { failsAt } from '../../src/lib/number.ts';
const [seeds, seed] = process.argv.slice(2, 4).map((arg) => Number(arg.split('=')[1]));
if (process.argv.slice(4).join(' ') !== '--until-failure --json') throw new Error('other arguments');
if (failsAt < 0) throw new Error('no such seed');
while (failsAt === Infinity);
if (failsAt >= seed && failsAt < seed + seeds) {
  console.log('something else');
  console.log(JSON.stringify({ seed: failsAt, check: 'number', message: 'it is ' + failsAt }));
  process.exitCode = 1;
}
`;

function breakageOf(failsAt: number): Breakage {
  return { name: `fails at ${failsAt}`, file: 'lib/number.ts', find: '= 0', replace: `= ${failsAt}`, why: 'A toy.' };
}

function treeOf(program = PROGRAM): string {
  const root = temporaryFolder();
  for (const folder of ['src/lib', 'test/simulation', 'node_modules'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'src/lib/number.ts'), program);
  writeFileSync(join(root, 'test/simulation/simulate.ts'), SIMULATION);
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }');
  return root;
}

const SEEDS = { seeds: 200, seed: 1, parallel: 2 };

describe('the runner of breakages', () => {
  it('says which seed finds a breakage, by which check', async () => {
    const root = treeOf();
    const told: BreakageResult[] = [];
    const breakages = [breakageOf(150), breakageOf(201), breakageOf(1)];
    const results = await runBreakages(breakages, { root, ...SEEDS, onResult: (result) => told.push(result) });
    expect(results.map(({ breakage, found }) => [breakage.name, found])).toEqual([
      ['fails at 150', { seed: 150, check: 'number', message: 'it is 150' }],
      ['fails at 201', undefined],
      ['fails at 1', { seed: 1, check: 'number', message: 'it is 1' }],
    ]);
    expect(told.toSorted((a, b) => results.indexOf(a) - results.indexOf(b))).toEqual(results);
    for (const { seconds } of results) expect(seconds).toBeGreaterThan(0);
    expect(missed(results)).toEqual(['not found: fails at 201']);
  });

  it('refuses a program that fails without a breakage', async () => {
    const root = treeOf(PROGRAM.replace('0', '7'));
    await expect(runBreakages([], { root, ...SEEDS })).rejects.toThrow(
      'without a breakage, seed 7 fails at number: it is 7',
    );
  });

  it('tells a run without a result', async () => {
    const results = await runBreakages([breakageOf(-1), breakageOf(2)], { root: treeOf(), ...SEEDS });
    expect(missed(results)).toEqual([expect.stringMatching(/^no result: fails at -1 ended with 1: .*no such seed/s)]);
    expect(results[1]?.found?.seed).toBe(2);
  });

  it('ends a run that has no end', async () => {
    const options = { root: treeOf(), ...SEEDS, timeoutMs: 5_000 };
    const results = await runBreakages([breakageOf(Number.POSITIVE_INFINITY)], options);
    expect(missed(results)).toEqual([expect.stringMatching(/^no result: fails at Infinity ended with SIGTERM/)]);
  });

  it('stops when it is told to', async () => {
    const stop = new AbortController();
    const options = { root: treeOf(), ...SEEDS, parallel: 1, signal: stop.signal };
    const run = runBreakages([breakageOf(3), breakageOf(Number.POSITIVE_INFINITY)], {
      ...options,
      onResult: () => stop.abort(new Error('enough')),
    });
    await expect(run).rejects.toThrow('enough');
  });

  it('refuses a control run without a result', async () => {
    const root = treeOf(PROGRAM.replace('0', '-1'));
    await expect(runBreakages([], { root, ...SEEDS })).rejects.toThrow(/^without a breakage: ended with 1: /);
  });

  it('leaves no copies', async () => {
    const folder = temporaryFolder();
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    await runBreakages([breakageOf(2)], { root: treeOf(), ...SEEDS });
    expect(readdirSync(folder).filter((name) => name.startsWith('breakage-'))).toEqual([]);
  });
});

describe('the table of breakages', () => {
  const results: BreakageResult[] = [
    { breakage: { ...breakageOf(3), name: 'a|b' }, found: { seed: 3, check: 'number', message: '' }, seconds: 1 },
    { breakage: breakageOf(4), found: undefined, seconds: 2 },
  ];
  const table = `| breakage | file | what goes wrong | found by | at seed |
|---|---|---|---|--:|
| a\\|b | \`src/lib/number.ts\` | A toy. | number | 3 |
| fails at 4 | \`src/lib/number.ts\` | A toy. | **not found** |  |
`;

  it('names the check and the seed', () => {
    expect(tableOf(results)).toBe(table);
  });

  it('replaces the one in a document', () => {
    const [head, end] = ['# A\n<!-- table: npm run simulate -- --breakages -->\n', '<!-- end of table -->\nB\n'];
    expect(withBreakages(`${head}old\n${end}`, table)).toBe(`${head}${table}${end}`);
    expect(() => withBreakages('# A\n', table)).toThrow('no <!-- table');
  });
});
