import { describe, expect, it } from 'vitest';
import { nextSteps } from '../../src/backfill/next-steps.ts';

const JOINED = { hasTargetLabels: true } as const;

/** The commands among the text. */
function commandsOf(text: string): string[] {
  return [...text.matchAll(/^ {2}(promtool .*)$/gm)].map(([, line = '']) => line);
}

describe('backfill/next-steps', () => {
  it('daily returns become blocks as long as the longest that Prometheus makes itself', () => {
    expect(commandsOf(nextSteps({ ...JOINED, source: 'daily_returns', files: ['past.om'] }))).toEqual([
      'promtool tsdb create-blocks-from openmetrics --max-block-duration=744h past.om /var/lib/prometheus',
    ]);
  });

  it('machines become blocks that a compaction joins with no more than a day of others', () => {
    expect(commandsOf(nextSteps({ ...JOINED, source: 'machines', files: ['past.om', 'past.om.2'] }))).toEqual([
      'promtool tsdb create-blocks-from openmetrics --max-block-duration=24h past.om /var/lib/prometheus',
      'promtool tsdb create-blocks-from openmetrics --max-block-duration=24h past.om.2 /var/lib/prometheus',
    ]);
  });

  it('a name that a shell would divide is quoted', () => {
    const [command] = commandsOf(nextSteps({ ...JOINED, source: 'machines', files: ["my past's.om"] }));
    expect(command).toContain(` 'my past'\\''s.om' `);
  });

  it('says that the series are others without the labels of the target', () => {
    const told = (hasTargetLabels: boolean): string =>
      nextSteps({ hasTargetLabels, source: 'machines', files: ['past.om'] });
    expect(told(false)).toContain('do not join');
    expect(told(true)).not.toContain('do not join');
  });
});
