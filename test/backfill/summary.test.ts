import { describe, expect, it } from 'vitest';
import type { Written } from '../../src/backfill/plan.ts';
import { type BackfillResult, nextSteps, summary } from '../../src/backfill/summary.ts';

function file(name: string | undefined, more: Partial<Written> = {}): Written {
  const counts = { bytes: 1_000_000, samples: 100, records: 10 };
  return { from: 0, ...(name !== undefined && { file: name }), ...counts, ...more };
}

const RESULT: BackfillResult = {
  source: 'machines',
  written: [file('past.om'), file('past.om.2')],
  bad: 0,
  endings: [],
  fullResolution: false,
  hasTargetLabels: true,
};

/** The commands among the next steps. */
function commandsOf(result: BackfillResult): string[] {
  return [...nextSteps(result).matchAll(/^ {2}(promtool .*)$/gm)].map(([, line = '']) => line);
}

describe('backfill/summary', () => {
  it.each([
    [60, false, ''],
    [89, false, ''],
    [480, false, 'Records are 480 s apart, .*: the service leaves out records of long ranges. Use --full-resolution'],
    [120, true, 'Records are 120 s apart, .*: these machines push less often, or the service leaves out records of 12'],
  ])('warns where far fewer records came than pushes would give: %i s apart', (gapSeconds, fullResolution, warning) => {
    // In the other file a machine pushed only twice.
    const written = [file('a', { gapSeconds }), file('b', { gapSeconds: 10_000 })];
    const text = summary({ ...RESULT, written, fullResolution });
    expect(text.split('\n').slice(1).join('\n')).toMatch(new RegExp(`^${warning}`));
    expect(text.includes('apart')).toBe(warning !== '');
  });

  it('daily returns become blocks as long as the longest that Prometheus makes itself', () => {
    expect(commandsOf({ ...RESULT, source: 'daily_returns', written: [file('past.om')] })).toEqual([
      'promtool tsdb create-blocks-from openmetrics --max-block-duration=744h past.om /var/lib/prometheus',
    ]);
  });
});
