import { setFlagsFromString } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';
import type { Comparison } from './passwords.ts';

// Without this compiler, which a program may have switched off, a comparison takes 15 times as long: a second at cost 10.
setFlagsFromString('--turbofan');

/** Compares one password after the other: each keeps a core busy, for longer the higher the cost of the hash. */
parentPort?.on('message', ({ password, hash }: Comparison) => {
  parentPort?.postMessage(compareSync(password, hash));
});
