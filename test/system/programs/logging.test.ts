import { openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { seriesValue } from '../../support/exposition/exposition-text.ts';
import { stoppedReader } from '../../support/log/stopped-reader.ts';
import { ask, scrape } from '../../support/network/ask.ts';
import { freePort } from '../../support/network/ports.ts';
import { startExporter, waitFor } from '../../support/programs/program.ts';

const BROKEN: readonly (readonly [name: string, format: 'json' | 'pretty', open: () => number, dropped: number])[] = [
  ['on a full disk', 'json', () => openSync('/dev/full', 'a'), 3],
  ['on a full disk', 'pretty', () => openSync('/dev/full', 'a'), 3],
  ['whose reader has stopped', 'json', () => stoppedReader().fd, 0],
  ['whose reader has stopped', 'pretty', () => stoppedReader().fd, 0],
];

describe.concurrent('system/programs/logging', () => {
  it.each(BROKEN)('a log %s (%s) delays no start, poll, scrape or stop', async (_, format, open, dropped) => {
    const port = await freePort();
    const args = ['demo', `--web.listen-address=127.0.0.1:${port}`, `--log.format=${format}`];
    const program = startExporter(args, {}, open());
    await waitFor(async () => {
      const text = await scrape(port);
      expect(seriesValue(text, 'beaconchain_source_up', { source: 'machines' })).toBe(1);
      expect(seriesValue(text, 'beaconchain_exporter_log_lines_dropped_total')).toBeGreaterThanOrEqual(dropped);
    });
    expect((await ask(port, '/-/healthy')).status).toBe(200);
    expect(await program.stop()).toEqual({ code: 0, signal: null });
  });

  it.each(BROKEN.slice(1, 3))('a refusal keeps its exit code with a standard error %s', async (_, __, open) => {
    const program = startExporter(['serve', '--no-such-flag'], {}, open());
    expect(await program.ended).toEqual({ code: 2, signal: null });
  });
});
