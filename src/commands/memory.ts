import { setFlagsFromString } from 'node:v8';

/** The modules of Node that the daemon uses. They load the others that they need. */
const NODE_MODULES = [
  'node:assert',
  // A server needs it to listen.
  'node:cluster',
  'node:crypto',
  'node:dns',
  'node:fs/promises',
  'node:http',
  'node:module',
  'node:perf_hooks',
  'node:timers/promises',
  'node:tls',
  'node:worker_threads',
  'node:zlib',
  'node:stream/consumers',
];

/**
 * Limits the memory that V8 takes for speed that this program does not need. Here and not on the command line, so that
 * every way to start the program has it. Measured in docs/internals/performance.md.
 */
export function limitMemory(): void {
  // Node's own modules are loaded first: after a change of flags, V8 refuses the code that Node has compiled in
  // advance.
  for (const name of NODE_MODULES) process.getBuiltinModule(name);
  // The young generation stays at 1 MiB. By default a start alone makes it grow to 16 MiB, and it never shrinks.
  setFlagsFromString('--semi-space-growth-factor=1');
  // By default the heap grows further between two collections the faster the machine is.
  setFlagsFromString('--heap-growing-percent=25');
  // Do not optimize undici's HTTP parser, one large function of WebAssembly: that takes 22 MiB, of which 10 MiB remain.
  setFlagsFromString('--wasm-tiering-budget=2000000000');
  // Nor its wrappers for calls from JavaScript: the thousandth call would load V8's optimizing compiler, 2 MiB.
  setFlagsFromString('--wasm-wrapper-tiering-budget=2000000000');
  // The two optimizing compilers take 13 MiB, and sweeps are too rare to earn back their work. bcrypt-worker.ts turns one on.
  setFlagsFromString('--no-turbofan');
  setFlagsFromString('--no-maglev');
}

/** For a command that computes all the time. */
export function useAllCompilers(): void {
  setFlagsFromString('--turbofan');
  setFlagsFromString('--maglev');
}
