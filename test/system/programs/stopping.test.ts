import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startService } from '../../support/faults/service.ts';
import { configFile, temporaryFolder } from '../../support/files/files.ts';
import { listen } from '../../support/network/listen.ts';
import {
  ANY_PORT,
  asking,
  preloaded,
  type Running,
  startExporter,
  startServe,
  waitFor,
} from '../../support/programs/program.ts';

/** A Node program that gets SIGTERM when it begins to handle SIGUSR1, as main.ts does before it loads anything. */
const EARLY = `const { on } = process;
  process.on = (name, ...rest) => {
    on.call(process, name, ...rest);
    if (name === 'SIGUSR1') process.kill(process.pid, 'SIGTERM');
    return process;
  };`;

async function expectOrderlyStop(program: Running, signal: NodeJS.Signals): Promise<void> {
  expect(await program.stop(signal), program.output).toEqual({ code: 0, signal: null });
  expect(program.stderr).toBe('');
  expect(program.lines('stopping')).toEqual([expect.objectContaining({ signal })]);
}

describe('system/programs/stopping', () => {
  it('serve stops although the API never answers, and logs no failure', async () => {
    const api = await startService('key', { request: () => 'silence' });
    // A stop that waits for the answer takes longer than this test may.
    const program = startServe(asking(api.url, ', timeout: 1h'), 'key');
    await program.line('listening');
    await waitFor(() => expect(api.requests.length).toBeGreaterThan(0));
    await expectOrderlyStop(program, 'SIGTERM');
    expect(program.lines('poll failed')).toEqual([]);
  });

  it('demo stops although a look-up blocks a thread and Node was replaced', async () => {
    // Reading a pipe that nobody writes blocks a thread, as a silent name server does.
    const pipe = join(temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const block = `import('node:fs').then(({ readFile }) => readFile('${pipe}', () => undefined))`;
    const replaced = `process.execPath = '/no/longer/here'`;
    const program = startExporter(['demo', ANY_PORT], preloaded(`${block}; ${replaced}`));
    await program.line('listening');
    await expectOrderlyStop(program, 'SIGTERM');
  });

  it.each([
    ['never comes', ''],
    ['fails meanwhile', `process.on('SIGTERM', () => answer(new Error('EAI_AGAIN')))`],
  ])('serve stops during its start, although the look-up of its address %s', async (_, how) => {
    const hold = `import dns from 'node:dns'; dns.lookup = (_name, _options, answer) => {
      console.log('{"msg":"looking up"}'); ${how} };`;
    const program = startExporter(['serve', '--web.listen-address=name.test:0', '--log.format=json'], {
      ...preloaded(hold),
      BEACONCHAIN_API_KEY: 'key',
      HTTPS_PROXY: 'http://localhost:1',
    });
    await program.line('looking up');
    await expectOrderlyStop(program, 'SIGTERM');
  });

  it('serve stops in order on Ctrl-C under npm, which repeats the signal', async () => {
    const again = `process.once('SIGINT', () => setImmediate(() => process.kill(process.pid, 'SIGINT')))`;
    const program = startExporter(['serve', ANY_PORT], { ...preloaded(again), BEACONCHAIN_API_KEY: 'key' });
    await program.line('listening');
    await expectOrderlyStop(program, 'SIGINT');
  });

  it.each(['demo', 'sandbox'])('%s ends when its terminal is closed', async (name) => {
    const program = startExporter([name, ANY_PORT]);
    await program.line(name === 'demo' ? 'demo: open the url' : 'simulated service');
    expect(await program.stop('SIGHUP'), program.output).toEqual({ code: 0, signal: null });
  });

  it.each(['serve', 'demo', 'sandbox'])('%s stops in order if the signal comes before it has loaded', async (name) => {
    const program = startExporter([name, ANY_PORT], { ...preloaded(EARLY), BEACONCHAIN_API_KEY: 'key' });
    expect(await program.ended, program.output).toEqual({ code: 0, signal: null });
    expect(program.lines('stopping')).toEqual([expect.objectContaining({ signal: 'SIGTERM' })]);
  });

  it('serve stops with 0 while its start waits for Redis', async () => {
    const redis = createServer();
    const port = await listen(redis);
    const program = startServe(`state: {redis: {url: "redis://127.0.0.1:${port}"}}\n`, 'key');
    await once(redis, 'connection');
    await expectOrderlyStop(program, 'SIGTERM');
  });

  it('an interrupted check ends by the signal, without a result', async () => {
    const api = await startService('key', { request: () => 'silence' });
    const file = configFile(asking(api.url, ', timeout: 1h'));
    const env = { BEACONCHAIN_API_KEY: 'key' };
    const program = startExporter(['check', '--probe', '--yes', `--config.file=${file}`], env);
    await waitFor(() => expect(api.requests.length).toBeGreaterThan(0));
    expect(await program.stop('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
  });
});
