import { describe, expect, it } from 'vitest';
import type { Written } from '../../src/backfill/plan.ts';
import { type BackfillResult, nextSteps, summary } from '../../src/backfill/summary.ts';

function file(name: string | undefined, more: Partial<Written> = {}): Written {
  const counts = { bytes: 1_000_000, samples: 100, records: 10, duplicates: 0, missingDays: 0 };
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
  it('says what was written, and what is missing', () => {
    const written = [
      file('a', { duplicates: 2, missingDays: 3 }),
      file(undefined, { samples: 0, bytes: 0, records: 0 }),
    ];
    expect(summary({ ...RESULT, source: 'daily_returns', written, bad: 4, endings: ['empty_pages'] })).toBe(
      [
        '10 records, 100 samples in 1 file, 1.0 MB.',
        '2 duplicate records were dropped.',
        '4 records were dropped: they could not be read, or are outside the time range.',
        'The service has no data for 3 days.',
        'Data may be missing: the service sent several pages in a row without records.',
        '',
      ].join('\n'),
    );
    expect(summary({ ...RESULT, written: [] })).toContain('Nothing was written');
    expect(nextSteps({ ...RESULT, written: [] })).toBe('');
  });

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

  it('machines become blocks that a compaction joins with no more than a day of others', () => {
    expect(commandsOf(RESULT)).toEqual([
      'promtool tsdb create-blocks-from openmetrics --max-block-duration=24h past.om /var/lib/prometheus',
      'promtool tsdb create-blocks-from openmetrics --max-block-duration=24h past.om.2 /var/lib/prometheus',
    ]);
  });

  it('a name that a shell would divide is quoted', () => {
    const [command] = commandsOf({ ...RESULT, written: [file("my past's.om")] });
    expect(command).toContain(` 'my past'\\''s.om' `);
  });

  it('says that the series are others without the labels of the target', () => {
    expect(nextSteps({ ...RESULT, hasTargetLabels: false })).toContain('do not join');
    expect(nextSteps(RESULT)).not.toContain('do not join');
  });
});
