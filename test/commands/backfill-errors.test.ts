import { describe, expect, it } from 'vitest';
import { QuotaKept } from '../../src/budget/spare.ts';
import { explainFailure } from '../../src/commands/backfill-errors.ts';
import type { BackfillOptions } from '../../src/commands/backfill-flags.ts';
import { ExporterGone } from '../../src/sharing/client.ts';
import { NotPassedOn } from '../../src/sharing/shared.ts';

const OPTIONS = { source: 'machines', range: { window: '7d' } } as BackfillOptions;
const ONWARD = 'The data read so far are kept. To continue, run the same command with --resume.';

describe('commands/backfill-errors', () => {
  it.each([
    [
      new ExporterGone('machine_metrics', '/state/api.sock', Object.assign(new Error(''), { code: 'ENOENT' })),
      'The exporter stopped: no process answers on /state/api.sock (ENOENT).',
    ],
    [
      new QuotaKept(Date.UTC(2026, 11, 1)),
      'The running exporter needs the rest of the quota until 2026-12-01T00:00:00.000Z. Use --yes to spend it on the backfill instead.',
    ],
    [new NotPassedOn('/x for daily_returns'), 'The exporter does not forward this request: /x for daily_returns.'],
  ])('%o', (error, text) => {
    expect(explainFailure(error, OPTIONS, true).message).toBe(`${text}\n${ONWARD}`);
  });
});
