#!/usr/bin/env node
/** Runs the program; nothing else is loaded before it is known that this Node can run it. */
import './commands/old-node.js';

// In place of node and the path of this file, in `systemctl status` and ps.
process.title = ['beaconchain-exporter', ...process.argv.slice(2)].join(' ');
const stop = new AbortController();
// From the first line on: without a handler, these signals have no effect on process 1. Ctrl-C comes twice under npm, which passes
// it on.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort(signal));
// By default, Node opens the inspector on this signal, which exposes the memory of the process and the API key in it.
process.on('SIGUSR1', () => undefined);
const { limitMemory } = await import('./commands/memory.ts');
limitMemory();
const { runProgram } = await import('./commands/run.ts');
process.exitCode = await runProgram(process.argv.slice(2), process.env, stop.signal);
