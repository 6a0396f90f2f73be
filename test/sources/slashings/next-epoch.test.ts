import { describe, expect, it } from 'vitest';
import { RequestFailed } from '../../../src/api/errors.ts';
import { verdictOn } from '../../../src/sources/slashings/next-epoch.ts';
import type { EpochRows } from '../../../src/sources/slashings/state.ts';
import { HOUR, MINUTE } from '../../support/time/timing.ts';

const read: EpochRows = { epoch: 1, rows: [], allRows: [] };
const unreadable = new RequestFailed('epoch_slots', 'server_error', 'made up');
const away = new RequestFailed('epoch_slots', 'network', 'made up');

describe('sources/slashings/next-epoch: what happens to an epoch', () => {
  it.each<[string, Parameters<typeof verdictOn>[0], epochMs: number, namesMs: number, verdict: object]>([
    ['counted if all is read', { read, isOpen: false }, 0, 0, { do: 'count', read }],
    ['tried again if slots are open', { read, isOpen: true }, 5, 0, { do: 'wait', tried: [6, 0] }],
    ['counted after an hour, open or not', { read, isOpen: true }, 59, 0, { do: 'count', read }],
    ['tried again if it is unreadable', { isOpen: true, failure: unreadable }, 58, 0, { do: 'wait', tried: [59, 0] }],
    ['skipped after an hour if it is unreadable', { isOpen: true, failure: unreadable }, 59, 0, { do: 'skip' }],
    ['as before if the service is away', { isOpen: true, failure: away }, 59, 9, { do: 'wait', tried: [59, 9] }],
    ['waiting for names alone', { read, isOpen: false, namesFailure: away }, 7, 5, { do: 'wait', tried: [7, 6] }],
    ['counted without names after an hour', { read, isOpen: false, namesFailure: away }, 7, 59, { do: 'count', read }],
  ])('%s', (_, found, epochMs, namesMs, expected) => {
    const verdict = verdictOn(found, { epochMs: epochMs * MINUTE, namesMs: namesMs * MINUTE }, MINUTE);
    const inMinutes = verdict.do === 'wait' && {
      do: 'wait',
      tried: [verdict.tried?.epochMs, verdict.tried?.namesMs].map((ms = HOUR) => ms / MINUTE),
    };
    expect(inMinutes || verdict).toEqual(expected);
  });
});
