import { epochAt } from '../../lib/chain.ts';
import { type Asked, askEither } from '../alternatives.ts';
import { askByClock, LATEST_OR_NUMBER } from '../by-clock.ts';
import { type EpochRows, errorIfEmpty, type PollContext, readEpoch } from './read.ts';
import type { Slashings } from './schema.ts';

/** Reads the latest epoch: by that name, or by its number where the service rejects the name. */
export function readLatest(context: PollContext, { selector }: Slashings): Promise<Asked<EpochRows>> {
  const { chain, now, signal } = context;
  return askEither({ ...LATEST_OR_NUMBER, previous: selector, now, signal }, (way, isUsual) =>
    way === 'latest'
      ? readEpoch(context, 'latest', 'head_pass')
      : askByClock(
          { chain, now, isUsual },
          (epoch) => epoch,
          (epoch) => readBegun(context, epoch),
        ),
  );
}

/** The current epoch is not the latest one of the service before its first slot is processed. */
async function readBegun(context: PollContext, epoch: number): Promise<EpochRows> {
  const read = await readEpoch(context, epoch, 'head_pass');
  const failure =
    epoch === epochAt(context.chain, context.now)
      ? errorIfEmpty(read, 'the epoch has started by the clock')
      : undefined;
  if (failure) throw failure;
  return read;
}
