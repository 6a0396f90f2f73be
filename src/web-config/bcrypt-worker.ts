import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';
import type { Comparison } from './bcrypt.ts';

/** Compares one password after the other: bcrypt keeps a core busy for as long as the cost of its hash says. */
parentPort?.on('message', ({ password, hash }: Comparison) => {
  parentPort?.postMessage(compareSync(password, hash));
});
