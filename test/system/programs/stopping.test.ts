import { rmSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { ask } from '../../support/ask.ts';
import { portOf, type Running, startExporter, startServe, waitFor } from '../../support/program.ts';
import { startReloading } from '../../support/reloading.ts';
import { startService } from '../../support/service.ts';
import { makePipe } from './named-pipe.ts';

const LISTEN = '--web.listen-address=127.0.0.1:0';

/** Stops the program as the interface promises: with 0, within five seconds, without a word on stderr. */
async function expectOrderlyStop(program: Running, signal: NodeJS.Signals): Promise<void> {
  const before = performance.now();
  expect(await program.stop(signal), program.output).toEqual({ code: 0, signal: null });
  expect(performance.now() - before).toBeLessThan(5_000);
  expect(program.stderr).toBe('');
  expect(program.lines('stopping')).toEqual([expect.objectContaining({ signal })]);
}

describe('system/programs/stopping', () => {
  it.each([
    ['demo', 'SIGTERM', 'demo: open the url'],
    ['demo', 'SIGINT', 'demo: open the url'],
    ['sandbox', 'SIGTERM', 'simulated service'],
  ] as const)('%s stops at %s', async (command, signal, line) => {
    const program = startExporter([command, LISTEN]);
    await program.line(line);
    await expectOrderlyStop(program, signal);
  });

  it('serve stops although the API never answers, and does not call that a failure', async () => {
    const api = await startService('key', { request: () => 'silence' });
    const program = startServe(
      `api: {base_url: "${api.url}"}\nchains: {mainnet: {v1_base_url: "${api.url}"}}\n`,
      'key',
    );
    await program.line('listening');
    await waitFor(() => expect(api.requests.length).toBeGreaterThan(0));
    await expectOrderlyStop(program, 'SIGTERM');
    expect(program.lines('poll failed')).toEqual([]);
  });

  it('stops although a scraper keeps its connection open', async () => {
    const program = startExporter(['demo', LISTEN]);
    await ask(await portOf(program), '/metrics', { headers: { connection: 'keep-alive' } });
    await expectOrderlyStop(program, 'SIGTERM');
  });

  it('ends although a reload reads a file that does not answer', async () => {
    const { file, program } = await startReloading({ key: 'key' });
    rmSync(file);
    const pipe = makePipe(file);
    program.child.kill('SIGHUP');
    await pipe.isRead();
    const before = performance.now();
    await program.stop();
    expect(performance.now() - before).toBeLessThan(10_000);
  });
});
