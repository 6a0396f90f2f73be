import { describe, expect, it } from 'vitest';
import { type BackfillResult, nextSteps, ProgressReport, progressLine, summary } from '../../src/backfill/report.ts';
import type { Written } from '../../src/backfill/write.ts';
import { NOW } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';

const WRITTEN: Written = { files: ['past.om'], bytes: 1_000_000, samples: 100, records: 10, gapSeconds: 60 };

const RESULT: BackfillResult = {
  source: 'machines',
  written: WRITTEN,
  bad: 0,
  endings: [],
  fullResolution: false,
};

/** The commands among the next steps. */
function commandsOf(result: BackfillResult): string[] {
  return [...nextSteps(result).matchAll(/^ {2}(promtool .*)$/gm)].map(([, line = '']) => line);
}

describe('backfill/report', () => {
  it('shows the bar, the requests and the time left', () => {
    const progress = { done: 30, left: 90, elapsedMs: 60_000 };
    expect(progressLine(progress)).toBe('[######..................]  25 %  30 of 120 requests, 3 min left');
    expect(progressLine({ ...progress, done: 120, left: 0 })).toBe(
      '[########################] 100 %  120 of 120 requests, 0 s left',
    );
  });

  it.each([
    [true, ['\r\x1b[2K0', '\r\x1b[2Kwaiting 9 s: slow', '\r\x1b[2Kwaiting 5 s: slow', '\r\x1b[2K50', '\n']],
    [false, ['waiting 9 s: slow\n', '50\n']],
  ])(
    'redraws its line on a terminal (%s), and elsewhere writes a line for each tenth and each wait',
    (isTTY, written) => {
      const lines: string[] = [];
      const clock = new VirtualClock(NOW);
      const report = new ProgressReport({ isTTY, write: (text) => lines.push(text) }, clock);
      let left = 2;
      report.start(() => left);
      for (const seconds of [9, 5]) report.onWait('slow', NOW + seconds * 1_000);
      left = 1;
      report.onPage();
      report.stop();
      // Of the bar, the per cent.
      expect(lines.map((line) => line.replace(/\[[#.]+\] +(\d+) %.*requests/, '$1'))).toEqual(written);
    },
  );

  it.each([
    [60, false, ''],
    [89, false, ''],
    [480, false, 'Records are 480 s apart, .*: the service leaves out records of long ranges. Use --full-resolution'],
    [120, true, 'Records are 120 s apart, .*: these machines push less often, or the service leaves out records of 12'],
  ])('warns where far fewer records came than pushes would give: %i s apart', (gapSeconds, fullResolution, warning) => {
    const text = summary({ ...RESULT, written: { ...WRITTEN, gapSeconds }, fullResolution });
    expect(text.split('\n').slice(1).join('\n')).toMatch(new RegExp(`^${warning}`));
    expect(text.includes('apart')).toBe(warning !== '');
  });

  it('daily returns become blocks as long as the longest that Prometheus makes itself, in a directory that nobody guesses', () => {
    expect(commandsOf({ ...RESULT, source: 'daily_returns' })).toEqual([
      'promtool tsdb create-blocks-from openmetrics --max-block-duration=744h past.om "$data"',
    ]);
  });
});
