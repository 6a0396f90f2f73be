import * as z from 'zod';
import { Index } from '../../api/answers/fields.ts';
import { Epochs, Times } from '../../api/answers/sync-committee.ts';
import { requestTo } from '../../api/endpoints.ts';
import { RequestFailed } from '../../api/errors.ts';
import { type Chain, MS_PER_PERIOD, NONSENSE_AHEAD_SECONDS, periodTime } from '../../facts/chain.ts';
import type { Family } from '../../toolkit/exposition/family.ts';
import { MS_PER_MINUTE } from '../../toolkit/lib/duration.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';
import { keepNewer } from '../ages.ts';
import { family, sample } from '../families.ts';
import type { Read } from '../read.ts';
import type { Source } from '../source.ts';

/** Times are Unix seconds. */
const Period = z.object({ number: Index, epoch: Epochs, timestamp: Times });
type Period = z.infer<typeof Period>;

export const SyncCommittee = z.object({ period: Period.optional() });
export type SyncCommittee = z.infer<typeof SyncCommittee>;

const AFTER_PERIOD_END_MS = 5 * MS_PER_MINUTE;

export function syncCommitteeSource(chain: Chain, intervalMs: Milliseconds): Source<SyncCommittee> {
  return {
    name: 'sync_committee',
    chain,
    reads: [periodRead(chain, intervalMs)],
    state: SyncCommittee,
    empty: {},
    share: () => 1,
    metrics: (value) => families(chain, value),
    more: { probe: { questions: () => [{ request: requestTo('sync_committee', { chain }) }] } },
  };
}

function periodRead(chain: Chain, everyMs: Milliseconds): Read<SyncCommittee> {
  return {
    name: 'period',
    endpoints: ['sync_committee'],
    everyMs,
    period: {
      ms: MS_PER_PERIOD,
      from: ({ period }) => period && periodTime(chain, period.number + 1) * 1000 + AFTER_PERIOD_END_MS,
    },
    async run({ api, signal }, { period: known }) {
      const { data, range } = await api.request(requestTo('sync_committee', { chain }), signal);
      const { period: number } = data;
      if (periodTime(chain, number) > api.now() / 1000 + NONSENSE_AHEAD_SECONDS) {
        throw new RequestFailed('sync_committee', 'invalid_body', 'a period far in the future');
      }
      const read = { number, epoch: range.epoch, timestamp: range.timestamp };
      return { value: { period: keepNewer(known, read, (one) => one.number) } };
    },
  };
}

const FAMILIES: readonly (readonly [
  name: string,
  help: string,
  value: (period: Period) => number | null | undefined,
])[] = [
  ['period', 'Current sync committee period (data.period)', ({ number }) => number],
  ['start_epoch', 'First epoch of the period (range.epoch.start)', ({ epoch }) => epoch.start],
  ['end_epoch', 'Last epoch of the period (range.epoch.end)', ({ epoch }) => epoch.end],
  ['start_timestamp_seconds', 'Start of the period (range.timestamp.start)', ({ timestamp }) => timestamp.start],
  ['end_timestamp_seconds', 'End of the period (range.timestamp.end)', ({ timestamp }) => timestamp.end],
];

function families(chain: Chain, { period }: SyncCommittee): Family[] {
  return FAMILIES.map(([name, help, value]) =>
    family(
      `sync_committee_${name}`,
      `${help}. Polled once per period of about 27 hours`,
      sample(chain, period && value(period)),
    ),
  );
}
