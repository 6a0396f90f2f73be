import { setImmediate } from 'node:timers/promises';

/** On a busy machine, the thread in which Node opens the inspector can be delayed. */
const LOOK_EVERY_MS = 50;
const LOOK_FOR_MS = 5_000;

/**
 * If SIGUSR1 arrives before the program handles it, Node opens the inspector, through whose port anyone can read the API
 * key. An inspector that the operator asked for stays open.
 */
export async function closeDebugger(): Promise<void> {
  const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
  if (/--inspect(?!-port)/.test(options)) return;
  // Node can be built without it.
  const inspector = await import('node:inspector').catch(() => undefined);
  const close = (): void => {
    if (inspector?.url() !== undefined) inspector.close();
  };
  // Node opens it between two operations of the program, and again in the next turn of the event loop.
  await setImmediate();
  close();
  const looks = setInterval(close, LOOK_EVERY_MS).unref();
  setTimeout(() => clearInterval(looks), LOOK_FOR_MS).unref();
}
