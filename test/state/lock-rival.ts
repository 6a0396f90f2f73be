import { systemClock } from '../../src/lib/clock.ts';
import { jsonLogger } from '../../src/lib/log.ts';
import { FileStore } from '../../src/state/file.ts';

// A program: opens a state directory at a moment and says what came of it. It keeps what it holds until it is killed.
const [dir = '', at = ''] = process.argv.slice(2);
// Spinning, so that several of them start within a millisecond.
while (Date.now() < Number(at));
try {
  await FileStore.open(dir, systemClock, jsonLogger('error'));
  process.stdout.write('held\n');
  setInterval(() => undefined, 1_000);
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.name : String(error)}\n`);
}
