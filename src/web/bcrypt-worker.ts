import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';
import type { Comparison } from './passwords.ts';

/** Compares one password after the other: each keeps a core busy, for longer the higher the cost of the hash. */
parentPort?.on('message', ({ password, hash }: Comparison) => {
  parentPort?.postMessage(compareSync(password, hash));
});
