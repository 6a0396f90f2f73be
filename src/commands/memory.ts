import { setFlagsFromString } from 'node:v8';

/**
 * Limits the memory that V8 takes for speed that this program does not need. Here and not on the command line, so that
 * every way to start the program has it. Measured in docs/internals/performance.md.
 */
export function limitMemory(): void {
  // The young generation stays at 1 MiB. By default a start alone makes it grow to 16 MiB, and it never shrinks.
  setFlagsFromString('--semi-space-growth-factor=1');
  // undici's HTTP parser, one large function of WebAssembly, is not optimized: that takes 22 MiB, of which 10 MiB remain.
  setFlagsFromString('--wasm-tiering-budget=2000000000');
}
