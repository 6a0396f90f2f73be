import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { readBody } from '../../src/api/body.ts';
import type { Endpoint } from '../../src/api/endpoints.ts';
import { bodyOf } from '../support/answers/written-answer.ts';
import { failureOf } from './api-harness.ts';

const MIB = 1024 * 1024;

/** A body that arrives in pieces of `size` bytes, with empty pieces between. */
async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let i = 0; i < bytes.length; i += size) {
    yield bytes.subarray(i, i + size);
    yield new Uint8Array(0);
  }
}

/** A JSON list with this many items, padded to this many bytes. */
function list(items: number, bytes: number): string {
  return `[${'1,'.repeat(items - 1)}1]`.padEnd(bytes);
}

async function refusalOf(endpoint: Endpoint, body: AsyncIterable<Uint8Array>): Promise<string> {
  const failure = await failureOf(readBody(endpoint, body));
  expect(failure).toMatchObject({ endpoint, reason: 'invalid_body' });
  return failure.message.replace(/^.*\((.*)\)$/, '$1');
}

it('reads what JSON.parse reads, however the body is split', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 20 }), fc.integer({ min: 1, max: 50 }), async (text, size) => {
      expect(await readBody('machine_metrics', inPieces(text, size))).toEqual(JSON.parse(text));
    }),
  );
  expect(await readBody('machine_metrics', inPieces('"€ü"', 1))).toBe('€ü');
});

it.each([
  ['', 'not JSON'],
  ['{"data":[', 'not JSON'],
  ['{"data":[]} x', 'not JSON'],
  ['\n<!doctype html>', 'HTML, not JSON'],
])('refuses %j: %s', async (text, why) => {
  expect(await refusalOf('machine_metrics', bodyOf(text))).toBe(why);
});

it('refuses bytes that are not UTF-8, which would change the name of a machine', async () => {
  async function* latin1(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('"ü"', 'latin1');
  }
  expect(await refusalOf('machine_metrics', latin1())).toBe('not JSON');
});

it.each<[Endpoint, number, number]>([
  ['machine_metrics', MIB, 20_000],
  ['attester_slashings', 4 * MIB, 600_000],
])('%s: accepts %i bytes and %i commas, and not one more of either', async (endpoint, bytes, commas) => {
  const most = list(commas + 1, bytes);
  expect(await readBody(endpoint, inPieces(most, 65_536))).toHaveLength(commas + 1);
  expect(await refusalOf(endpoint, inPieces(`${most} `, 65_536))).toBe(`more than ${bytes} bytes`);
  expect(await refusalOf(endpoint, bodyOf(list(commas + 2, bytes)))).toBe(`more than ${commas} commas`);
});

it.each<[Endpoint, number]>([
  ['machine_metrics', 5_000],
  ['attester_slashings', 1_000],
])('%s: accepts %i brackets, and not one more', async (endpoint, most) => {
  const nested = '[{"a":'.repeat(most / 2) + '}]'.repeat(most / 2).replace('}', '0}');
  await expect(readBody(endpoint, bodyOf(nested))).resolves.toBeDefined();
  expect(await refusalOf(endpoint, bodyOf(`[${nested}]`))).toBe(`more than ${most} brackets`);
});

it('stops reading at the piece that exceeds a limit', async () => {
  let pieces = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (const piece = Buffer.from('0,'.repeat(1_000)); ; pieces += 1) yield piece;
  }
  expect(await refusalOf('machine_metrics', endless())).toBe('more than 20000 commas');
  expect(pieces).toBe(20);
});
