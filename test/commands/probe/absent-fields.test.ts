import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { absentFields, mayBeAbsent } from '../../../src/commands/probe/probe.ts';

const Reward = z.object({ total: z.string(), layer: z.string().nullish() });
const Page = z.object({
  data: z.array(z.object({ day: z.number(), reward: Reward, note: z.string().nullish() })),
  paging: z.object({ next_cursor: z.string().nullish() }).nullish(),
});

describe('commands/probe/absent-fields', () => {
  it('names what is read and what no record has, at any depth', () => {
    const page = { data: [{ reward: { total: '1' } }, { reward: {} }], paging: {}, more: 1 };
    expect(absentFields(Page, [page])).toEqual([
      'data[].day',
      'data[].reward.layer',
      'data[].note',
      'paging.next_cursor',
    ]);
    expect(absentFields(Page, [{}])).toEqual(['data', 'paging']);
  });

  it('looks into alternatives, and into what is transformed', () => {
    const Either = z.object({ data: z.union([Reward, z.array(Reward).transform(([first]) => first)]) });
    expect(absentFields(Either, [{ data: { total: '1' } }])).toEqual(['data.layer']);
    expect(absentFields(Either, [{ data: [{ layer: 'x' }] }])).toEqual(['data[].total']);
    expect(
      absentFields(
        Reward.refine(() => false),
        [{ total: '1' }],
      ),
    ).toEqual(['layer']);
  });

  it('lets the service leave out a cursor, and zeros of machines', () => {
    const fields = ['paging', 'paging.next_cursor', 'data.node_metrics', 'data.system_metrics[].misc_os'];
    expect(fields.filter(mayBeAbsent)).toEqual(fields);
    expect(['data', 'data[].apr', 'pagings', 'data.period', 'data.validators'].filter(mayBeAbsent)).toEqual([]);
  });
});
