#!/usr/bin/env node
/** Runs the program; nothing else is loaded before it is known that this Node can run it. */
// Left to Node, this signal opens the inspector, which shows the memory of the process and the API key in it.
process.on('SIGUSR1', () => undefined);
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 20)) {
  process.stderr.write(`beaconchain-exporter needs Node 22.20 or newer, this is ${process.versions.node}\n`);
  process.exit(1);
}
const { holdHangUps } = await import('./hang-up.ts');
holdHangUps();
const { closeDebugger } = await import('./debugger.ts');
await closeDebugger();
const { runProgram } = await import('./program.ts');
process.exitCode = await runProgram(process.argv.slice(2), process.env);
