import { expect, it } from 'vitest';
import { LineOutput } from '../../../src/toolkit/lib/line-output.ts';
import { stoppedReader } from '../../support/log/stopped-reader.ts';
import { waitFor } from '../../support/programs/program.ts';

function lineOf(index: number): string {
  return `${String(index).padStart(7, '0')} ${'x'.repeat(1_015)}\n`;
}

it('keeps a burst for a slow reader, whole and in order, up to the last line', async () => {
  const reader = stoppedReader();
  const output = new LineOutput(reader.fd);
  const burst = Array.from({ length: 200 }, (_, index) => lineOf(index));
  for (const line of burst) output.write(line);
  let text = '';
  const reading = waitFor(() => {
    text += reader.read();
    expect(text.length).toBe(burst.join('').length);
  });
  await output.end();
  await reading;
  expect(text).toBe(burst.join(''));
  expect(output.dropped).toBe(0);
});

it('drops lines that a stopped reader does not take, and says how many when it reads again', async () => {
  const reader = stoppedReader();
  const output = new LineOutput(reader.fd);
  output.onRecovery = (lines) => output.write(`${lines} lines were dropped\n`);
  for (let index = 0; index < 2_000; index += 1) output.write(lineOf(index));
  expect(output.dropped).toBeGreaterThan(500);
  let text = '';
  await waitFor(() => {
    text += reader.read();
    expect(text).toContain('were dropped');
  });
  const kept = Array.from({ length: 2_000 - output.dropped }, (_, index) => lineOf(index));
  expect(text).toBe(`${kept.join('')}${output.dropped} lines were dropped\n`);
});
