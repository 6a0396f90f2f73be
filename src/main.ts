#!/usr/bin/env node
/** Runs the program; nothing else is loaded before it is known that this Node can run it. */
// By default, Node opens the inspector on this signal, which exposes the memory of the process and the API key in it.
process.on('SIGUSR1', () => undefined);
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`beaconchain-exporter needs Node 24 or newer; this is ${process.versions.node}\n`);
  process.exit(1);
}
const { limitMemory } = await import('./commands/memory.ts');
limitMemory();
const { runProgram } = await import('./commands/run.ts');
process.exitCode = await runProgram(process.argv.slice(2), process.env);
