import { expect, it } from 'vitest';
import { type BackfillResult, costsText, nextSteps, ProgressReport, resultText } from '../../src/backfill/report.ts';
import type { Written } from '../../src/backfill/write.ts';
import { DAYS } from '../../src/sources/daily-returns/index.ts';
import { RECORDS_OF_MACHINES } from '../../src/sources/machines/history.ts';
import { promtoolLines } from '../support/programs/backfill.ts';
import { NOW } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';

const WRITTEN: Written = { files: ['past.om'], bytes: 1_000_000, samples: 100, records: 10, gapSeconds: 60 };

const RESULT: BackfillResult = { past: RECORDS_OF_MACHINES, written: WRITTEN, bad: 0, endings: [] };

it.each([
  [true, ['\r\x1b[2KBAR 0', '\r\x1b[2Kwaiting 9 s: slow', '\r\x1b[2Kwaiting 5 s: slow', '\r\x1b[2KBAR 25', '\n']],
  [false, ['waiting 9 s: slow\n', 'BAR 25\n']],
])('redraws its line on a terminal (%s), else writes a line for each tenth and each wait', (isTTY, expected) => {
  const written: string[] = [];
  const clock = new VirtualClock(NOW);
  const report = new ProgressReport({ isTTY, write: (text) => written.push(text) }, clock);
  let left = 4;
  report.start(() => left);
  for (const seconds of [9, 5]) report.onWait('slow', NOW + seconds * 1_000);
  left = 3;
  report.onPage();
  report.stop();
  const bars = written.map((line) =>
    line
      .replace(/\[\.{24}\] {3}0 % {2}0 of 4 requests/, 'BAR 0')
      .replace(/\[#{6}\.{18}\] {2}25 % {2}1 of 4 requests/, 'BAR 25'),
  );
  expect(bars).toEqual(expected);
});

it.each([
  [60, false],
  [89, false],
  [480, true],
])('warns if records are much rarer than pushes: %i s apart', (gapSeconds, isWarning) => {
  const text = resultText({ ...RESULT, written: { ...WRITTEN, gapSeconds } });
  expect(text.includes(`Records are ${gapSeconds} s apart`)).toBe(isWarning);
  expect(text.includes('--full-resolution')).toBe(isWarning);
});

it('prints one command for the files of a year', () => {
  const files = ['a b.om', ...Array.from({ length: 364 }, (_, i) => `a b.om.${i + 2}`)];
  const [line, ...others] = nextSteps({ ...RESULT, written: { ...WRITTEN, files } }).match(/^ {2}.*$/gm) ?? [];
  expect(others).toEqual([]);
  expect(line).toMatch(/^ {2}for file in 'a b\.om'\*; do promtool .* "\$file" "\$data"; done$/);
});

it('says for how long no exporter can run, also for each part', () => {
  const parts = ['epoch_duties', 'epoch_rewards'];
  const text = costsText({ what: 'Backfill', requests: 164_250, parts, sequences: 1, perSecond: 0.9, left: {} });
  expect(text).toContain('about 2 d 3 h at 0.9 requests a second, in which no exporter can run');
  expect(text).toContain('82125 requests and 1 d 1 h 21 min each for epoch duties and epoch rewards');
});

it('makes blocks of daily returns as long as those of Prometheus, in a directory that the user names', () => {
  expect(promtoolLines(nextSteps({ ...RESULT, past: DAYS })).map((words) => words.join(' '))).toEqual([
    'tsdb create-blocks-from openmetrics --max-block-duration=744h past.om "$data"',
  ]);
});
