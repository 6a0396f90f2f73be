import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SURROUNDINGS, start } from '../support/program.ts';

const SOAK = join(import.meta.dirname, '../../bench/soak.ts');

describe('scripts/soak', () => {
  it('runs, in five seconds instead of twenty minutes', async () => {
    const program = start(process.execPath, [SOAK, '--hours=0.1'], { env: SURROUNDINGS });
    expect(await program.ended).toEqual({ code: 0, signal: null });
    const spans = program.stdout.split('\n').filter((line) => /^\| 0\.\d+ /.test(line));
    expect(spans).toHaveLength(24);
    for (const span of spans) expect(span).toMatch(/^(\| +[\d.]+( MiB| ms)? +|\| +NaN ms +)+\|$/);
    // Of what, depends on how much the machine gets done in so little time.
    expect(program.stdout).toMatch(/^Requests: [1-9]\d*\. Failures: /m);
    expect(program.stderr).toBe('');
  });
});
