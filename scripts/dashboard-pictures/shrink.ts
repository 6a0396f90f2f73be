import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** More make files larger and the eye sees no difference. */
const COLORS = 40;

interface Upng {
  decode(file: Buffer): { readonly width: number; readonly height: number };
  toRGBA8(image: object): ArrayBuffer[];
  encode(frames: ArrayBuffer[], width: number, height: number, colors: number): ArrayBuffer;
}

/** Gives a PNG a palette. */
export function shrink(path: string): void {
  const upng: Upng = createRequire(join(import.meta.dirname, 'page/package.json'))('upng-js');
  const image = upng.decode(readFileSync(path));
  writeFileSync(path, Buffer.from(upng.encode(upng.toRGBA8(image), image.width, image.height, COLORS)));
}
