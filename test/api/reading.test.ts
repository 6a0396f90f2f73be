import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  Bytes,
  Count,
  Index,
  identity,
  Paging,
  PushedAt,
  Ratio,
  Score,
  Share,
  Text,
  UnixSeconds,
  ValidatorIndex,
  Wei,
} from '../../src/api/answers/fields.ts';
import { PerformanceAnswer } from '../../src/api/answers/validators.ts';
import { readAnswer, readRecord } from '../../src/api/reading.ts';

const Row = z.object({
  index: Index,
  name: identity(Text.nullish()),
  peers: Count.nullable().default(0),
  inner: z.object({ a: Count.nullish(), list: z.array(Count).nullish() }).nullish(),
  needed: z.object({ b: Count.nullish() }),
});
const GOOD = { index: 1, name: 'n', peers: 3, inner: { a: 4, list: [5] }, needed: { b: 6 } };

describe('api/reading: a record', () => {
  it.each<[string, object, object, string | undefined]>([
    ['nothing odd', {}, GOOD, undefined],
    ['what may be absent', { name: null, peers: undefined }, { ...GOOD, name: null, peers: 0 }, undefined],
    ['a field that would mean 0 if it were absent', { peers: 'x' }, { ...GOOD, peers: null }, 'peers'],
    ['a field in a field', { inner: { a: -1, list: [5] } }, { ...GOOD, inner: { a: null, list: [5] } }, 'inner.a'],
    ['an item of a list', { inner: { list: [5, 'x', 'y'] } }, { ...GOOD, inner: { list: null } }, 'inner.list.1'],
    ['something else for an object', { inner: 7 }, { ...GOOD, inner: {} }, 'inner'],
    ['no object where one is needed', { needed: undefined }, { ...GOOD, needed: {} }, 'needed'],
    ['several, of which the first is reported', { peers: [], inner: [] }, { ...GOOD, peers: null, inner: {} }, 'peers'],
  ])('with %s keeps all other fields', (_, fields, expected, place) => {
    const item = { ...GOOD, ...fields };
    const before = structuredClone(item);
    const { value, odd } = readRecord(Row, item);
    expect([value, odd?.place]).toEqual([expected, place]);
    expect(item).toEqual(before);
  });

  it.each([{ index: '1' }, { index: null }, { name: 7 }, { name: '\ud83c' }, { name: {} }])(
    'without a readable identity is bad as a whole: %j',
    (fields) => {
      expect(readRecord(Row, { ...GOOD, ...fields })).toEqual({ odd: expect.anything() });
    },
  );

  it.each([null, 7, 'x', [], [GOOD]])('must be an object, not %j', (item) => {
    expect(readRecord(Row, item)).toEqual({ odd: { place: '', message: 'expected an object' } });
  });
});

const DUTY = { assigned: 1, missed: 0 };
const PERFORMANCE = { duties: { attestation: DUTY, proposal: null, sync_committee: null } };

describe('api/reading: an answer', () => {
  const Envelope = z.object({
    data: z.object({ a: Count.nullish(), b: Count.nullish() }),
    range: z.object({ epoch: Index }),
  });
  const range = { epoch: 1 };
  it.each<[unknown, unknown]>([
    [
      { a: 1, b: 'x' },
      { a: 1, b: null },
    ],
    ...[{ a: 1 }, {}].map((data): [unknown, unknown] => [data, data]),
    ...[{ a: null, b: 'x' }, 'x', null].map((data): [unknown, unknown] => [data, undefined]),
  ])('with the data %j is read as %j', (data, expected) => {
    expect(readAnswer(Envelope, { data, range }).value?.data).toEqual(expected);
  });

  it.each([
    [{ end: 7 }, { epoch: 7 }, undefined],
    [undefined, undefined, undefined],
    [{ end: '4' }, undefined, 'range.epoch'],
  ])('about performance with the epoch %j has the range %j', (epoch, range, place) => {
    const { value, odd } = readAnswer(PerformanceAnswer, { data: PERFORMANCE, range: { epoch } });
    expect([value?.data.duties.attestation.assigned, value?.range, odd?.place]).toEqual([1, range, place]);
  });

  it.each([
    [null, null, undefined],
    [{}, {}, undefined],
    [{ next_cursor: 7 }, { next_cursor: false }, 'paging'],
    [[], { next_cursor: false }, 'paging'],
    ['x', { next_cursor: false }, 'paging'],
  ])('with the paging %j is read as %j, and odd paging is reported', (paging, expected, place) => {
    const { value, odd } = readAnswer(z.object({ data: z.array(z.unknown()), paging: Paging }), { data: [1], paging });
    expect([value?.paging, odd?.place]).toEqual([expected, place]);
  });

  it('is bad without its epoch', () => {
    for (const odd of [undefined, null, {}, { epoch: -1 }]) {
      expect(readAnswer(Envelope, { data: { a: 1 }, range: odd }).value).toBeUndefined();
    }
  });
});

describe('api/answers/fields', () => {
  it.each<[string, z.ZodType, readonly unknown[], readonly unknown[]]>([
    ['a count', Count, [0, 1e15], [-1, 0.5, 1e15 + 1, 1e308, 2 ** 64 - 1, '1', Number.POSITIVE_INFINITY]],
    ['bytes', Bytes, [0, 2e15, 0.5], [-1, 2 ** 64 - 1, 1e308, '1']],
    ['a ratio', Ratio, [-0.5, 0.03], [-1e308, 1e16, '0.03']],
    ['a time', UnixSeconds, [0, 1.8e9], [-1, 2 ** 64 - 1, 1.8e12, '1']],
    ['the time of a push', PushedAt, [1.8e9, 1.8e12], [0, -1, 2 ** 64 - 1, '1800000000']],
    ['wei', Wei, ['0', '-5', '32000000000000000000'], [5, '', '0.5', '1e18', '9'.repeat(31)]],
    ['a share', Share, [0, 1, 1.0000000000000002, -1e-10], [1.001, -0.001, '1']],
    ['a score', Score, [-0.5, 1.0000000000000002], [1.001, -1e308, '1']],
    ['a validator', ValidatorIndex, [0, 2 ** 32 - 1], [-1, 0.5, 2 ** 32, '1']],
  ])('%s must be in its range', (_, field, good, bad) => {
    for (const one of good) expect(field.safeParse(one).success, String(one)).toBe(true);
    for (const one of bad) expect(field.safeParse(one).success, String(one)).toBe(false);
  });

  it('a share outside 0 to 1 by a rounding error is clamped', () => {
    expect([1.0000000000000002, -1e-10, 0.5].map((one) => Share.parse(one))).toEqual([1, 0, 0.5]);
    expect(Score.parse(-0.1)).toBe(-0.1);
  });

  it('the time of a push is in seconds, or in milliseconds if it is larger than 1e11', () => {
    expect([1790769623, 1e11, 1e11 + 1].map((one) => PushedAt.parse(one))).toEqual([1790769623, 1e11, 1e8 + 0.001]);
  });
});
