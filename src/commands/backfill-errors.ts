import { RequestFailed } from '../api/errors.ts';
import { isStoreFailure } from '../backfill/store.ts';
import { BudgetClosed } from '../budget/permit.ts';
import { QuotaKept } from '../budget/spare.ts';
import { ExporterGone } from '../sharing/client.ts';
import { NotPassedOn } from '../sharing/shared.ts';
import type { BackfillOptions } from './backfill-flags.ts';
import { CommandRefused } from './refused.ts';

/** The backfill cannot start or continue; the message gives the reason. */
export class BackfillRefused extends CommandRefused {
  override readonly name = 'BackfillRefused';
}

/** The error with a message that says what to do. An unexpected error is returned unchanged. */
export function explainFailure(error: Error, options: BackfillOptions, isKept: boolean): Error {
  const reason = reasonOf(error, options);
  if (reason === undefined) return error;
  const onward = isKept ? '\nThe data read so far are kept. To continue, run the same command with --resume.' : '';
  return new BackfillRefused(`${reason}${onward}`);
}

function reasonOf(error: Error, { source, range }: BackfillOptions): string | undefined {
  if (error instanceof QuotaKept) {
    const until = new Date(error.until).toISOString();
    return `The running exporter needs the rest of the quota until ${until}. Use --yes to spend it on the backfill instead.`;
  }
  if (error instanceof BudgetClosed) {
    return Number.isFinite(error.until)
      ? `The limits of the plan allow no requests until ${new Date(error.until).toISOString()}.`
      : 'Access is revoked: the trial is over or the subscription was cancelled.';
  }
  if (error instanceof NotPassedOn) return `The exporter does not forward this request: ${error.message}.`;
  if (error instanceof ExporterGone) return `The exporter stopped: ${error.detail}.`;
  if (error instanceof RequestFailed) {
    switch (error.reason) {
      case 'forbidden':
        return forbidden(source, 'start' in range);
      case 'unauthorized':
        return 'The service refused the API key (401).';
      case 'revoked':
        return 'Access is revoked: the trial is over or the subscription was cancelled (429, every limit 0).';
      case 'bad_request':
        return `The service rejected the request (${error.message}).`;
      default:
        return `The service failed repeatedly (${error.message}).`;
    }
  }
  if (isStoreFailure(error)) return `A file in FILE.backfill cannot be written or read: ${error.message}.`;
  // The messages of file system errors name the file and the cause.
  return 'syscall' in error ? `A file cannot be written or read: ${error.message}.` : undefined;
}

function forbidden(source: BackfillOptions['source'], isRange: boolean): string {
  if (source === 'machines') return 'This plan does not include machine metrics (403).';
  if (!isRange) return 'This plan does not include the daily returns (403).';
  return [
    'This plan does not allow --start and --end for daily returns (403): they need a Scale or Enterprise plan.',
    'Every plan allows --window=24h, 7d, 30d, 90d or all_time, which covers all days.',
  ].join('\n');
}
