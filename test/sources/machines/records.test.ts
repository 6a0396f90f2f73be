import { describe, expect, it } from 'vitest';
import { NodeRecord, SystemRecord, ValidatorRecord } from '../../../src/api/answers/machines.ts';
import { nodeRecord, systemRecord, validatorRecord } from '../../support/answers/machine-records.ts';

describe('sources/machines records', () => {
  it.each([
    ['seconds', 1790769623, 1790769623],
    ['milliseconds', 1790769623456, 1790769623.456],
    ['the largest seconds', 1e11, 1e11],
    ['the smallest milliseconds', 1e11 + 1, 1e8 + 0.001],
  ])('reads a timestamp in %s', (_, timestamp, seconds) => {
    expect(SystemRecord.parse(systemRecord({ timestamp })).timestamp).toBe(seconds);
  });

  it.each([undefined, null, 0, -1, '1790769623', Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses the timestamp %s',
    (timestamp) => {
      expect(SystemRecord.safeParse(systemRecord({ timestamp })).success).toBe(false);
    },
  );

  it.each([
    ['system', SystemRecord, systemRecord()],
    ['validator', ValidatorRecord, validatorRecord()],
    ['node', NodeRecord, nodeRecord()],
  ])('takes every field of a %s record as absent, null or 0, save the timestamp', (_, schema, record) => {
    const { timestamp, ...rest } = record;
    for (const field of Object.keys(rest)) {
      const isText = typeof rest[field] === 'string';
      const zero = typeof rest[field] === 'boolean' ? false : isText ? '' : 0;
      for (const value of [undefined, null, zero]) {
        expect(schema.safeParse({ ...record, [field]: value }), `${field} ${value}`).toMatchObject({ success: true });
      }
      expect(schema.safeParse({ ...record, [field]: {} }), field).toMatchObject({ success: false });
    }
    expect(schema.parse({ timestamp })).toMatchObject({ timestamp: (timestamp as number) / 1000 });
  });

  it('lets unknown fields pass and forgets them, whatever their name', () => {
    const record = JSON.parse('{"timestamp":1790769623,"__proto__":{"cpu_cores":1},"constructor":1,"version":2}');
    expect(SystemRecord.parse(record)).toEqual({ timestamp: 1790769623 });
  });
});
