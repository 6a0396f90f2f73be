import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { constants, crc32, deflateSync, inflateSync } from 'node:zlib';

/** With fewer the yellow and the orange of two lines would be one. */
const COLORS = 40;

interface Upng {
  decode(file: Buffer): { readonly width: number; readonly height: number };
  toRGBA8(image: object): ArrayBuffer[];
  encode(frames: ArrayBuffer[], width: number, height: number, colors: number): ArrayBuffer;
}

/** Gives a PNG a palette, which makes it a third as large. */
export function shrink(path: string): void {
  const upng: Upng = createRequire(join(import.meta.dirname, 'page/package.json'))('upng-js');
  const image = upng.decode(readFileSync(path));
  const encoded = upng.encode(upng.toRGBA8(image), image.width, image.height, COLORS);
  writeFileSync(path, packed(Buffer.from(encoded)));
}

const SIGNATURE_BYTES = 8;

/** The same PNG, compressed harder. */
function packed(png: Buffer): Buffer {
  const chunks: { readonly type: string; readonly data: Buffer }[] = [];
  for (let at = SIGNATURE_BYTES; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  const pixels = Buffer.concat(chunks.flatMap(({ type, data }) => (type === 'IDAT' ? [data] : [])));
  const { Z_BEST_COMPRESSION: level, Z_MAX_MEMLEVEL: memLevel } = constants;
  const parts = [png.subarray(0, SIGNATURE_BYTES)];
  for (const { type, data } of chunks) {
    if (type === 'IEND') parts.push(chunk('IDAT', deflateSync(inflateSync(pixels), { level, memLevel })));
    if (type !== 'IDAT') parts.push(chunk(type, data));
  }
  return Buffer.concat(parts);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
