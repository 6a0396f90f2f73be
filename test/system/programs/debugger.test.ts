import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Running, startExporter, waitFor } from '../../support/program.ts';

const SIGUSR1_BIT = 1n << 9n;
/** Any free port instead of 9229: tests run beside each other. Opens nothing by itself. */
const ENV = { NODE_OPTIONS: '--inspect-port=0', BEACONCHAIN_API_KEY: 'key' };
const WEB = '--web.listen-address=127.0.0.1:0';

const COMMANDS = [
  ['serve', [WEB], 'listening'],
  ['demo', [WEB], 'listening'],
  ['sandbox', [WEB], 'simulated service'],
] as const;

function start(command: string, flags: readonly string[]): Running {
  return startExporter([command, ...flags, '--log.format=json'], ENV);
}

/** Resolves when the process handles the signal by any means: before that it ends by it. */
async function caught({ child }: Running): Promise<void> {
  for (let mask = 0n; (mask & SIGUSR1_BIT) === 0n; await setImmediate()) {
    const [, hex = '0'] = /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
    mask = BigInt(`0x${hex}`);
  }
}

/** The ports at which the inspector said that it listens, and that take connections. */
async function inspectors({ stderr }: Running): Promise<string[]> {
  const ports = [...stderr.matchAll(/listening on ws:\/\/127\.0\.0\.1:(\d+)/g)].map(([, port = '']) => port);
  const open = await Promise.all(ports.map(isOpen));
  return ports.filter((_, i) => open[i]);
}

function isOpen(port: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

describe.concurrent('system/programs/debugger', () => {
  it.each(COMMANDS)('a signal does not open the inspector of %s, and does not end it', async (command, flags, line) => {
    const program = start(command, flags);
    await program.line(line);
    for (let i = 0; i < 3; i += 1) program.child.kill('SIGUSR1');
    expect(await program.stop()).toEqual({ code: 0, signal: null });
    expect(program.stderr).toBe('');
  });

  it.each(COMMANDS)('one that comes before %s has begun leaves no inspector open', async (command, flags, line) => {
    const program = start(command, flags);
    await caught(program);
    for (let i = 0; i < 20 && program.lines(line).length === 0; i += 1) {
      program.child.kill('SIGUSR1');
      await setImmediate();
    }
    await program.line(line);
    await waitFor(async () => expect(await inspectors(program)).toEqual([]));
    expect(await program.stop()).toEqual({ code: 0, signal: null });
  });

  it('one that the operator asked for stays', async () => {
    const program = startExporter(['sandbox', WEB, '--log.format=json'], {
      ...ENV,
      NODE_OPTIONS: '--inspect=127.0.0.1:0',
    });
    await program.line('simulated service');
    expect(await inspectors(program)).toHaveLength(1);
  });
});
