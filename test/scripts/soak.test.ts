import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SURROUNDINGS, start } from '../support/program.ts';

const SOAK = join(import.meta.dirname, '../../bench/soak.ts');

describe('scripts/soak', () => {
  it('runs, in some seconds instead of twenty minutes, and finds nothing that must not be', async () => {
    const program = start(process.execPath, [SOAK, '--hours=0.1'], { env: SURROUNDINGS });
    const ended = await program.ended;
    expect(ended, program.output).toEqual({ code: 0, signal: null });
    const spans = program.stdout.split('\n').filter((line) => /^\| 0\.\d+ /.test(line));
    expect(spans).toHaveLength(24);
    for (const span of spans) expect(span).toMatch(/^(\| +[\d.]+( MiB| ms)? +|\| +NaN ms +)+\|$/);
    // Of what, depends on how much the machine gets done in so little time.
    expect(program.stdout).toMatch(/^Requests: [1-9]\d*\. Failures: /m);
    expect(program.stdout).toMatch(/^Starts that were compared with what was shown: [1-9]\d*\.$/m);
    expect(program.stdout).toMatch(/^Nothing that must not be\.$/m);
    expect(program.stderr).toBe('');
  });
});
