import { createInterface } from 'node:readline';
import { z } from 'zod';
import { systemClock } from '../../../src/toolkit/lib/clock.ts';
import { jsonLogger } from '../../../src/toolkit/lib/log.ts';
import { openFileStore } from '../../../src/toolkit/state/file.ts';

// A program that uses a state directory. Each line of its input is a command, and it answers with a line.
const [dir = ''] = process.argv.slice(2);
let documents: Awaited<ReturnType<typeof openFileStore>>;

const COMMANDS: Readonly<Record<string, (argument: number) => Promise<unknown>>> = {
  /** At a moment of the clock that all processes share, so that several try within a millisecond. */
  open: async (at) => {
    while (performance.timeOrigin + performance.now() < at);
    documents = await openFileStore(dir, systemClock, jsonLogger('error'), { version: 1 });
    return 'held';
  },
  load: () => documents.load('count', z.number()),
  save: async (count) => {
    await documents.save('count', count);
    return 'saved';
  },
  /** Writes ever higher numbers, and says each that is written, until it is killed. */
  count: async (from) => {
    for (let count = from; ; count += 1) {
      await documents.save('count', count);
      process.stdout.write(`${count}\n`);
    }
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [command = '', argument] = line.split(' ');
  const answer = await COMMANDS[command]?.(Number(argument)).catch((error: unknown) => String(error));
  process.stdout.write(`${answer}\n`);
}
