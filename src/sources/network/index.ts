import * as z from 'zod';
import { Wei } from '../../api/answers/fields.ts';
import type { QueuesAnswer } from '../../api/answers/network.ts';
import { requestTo } from '../../api/endpoints.ts';
import { type Chain, epochEnd, USUAL_AGE } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import type { Family, Sample } from '../../toolkit/exposition/family.ts';
import { fresh, keepNewer, maxAge } from '../ages.ts';
import { expectPastEpoch } from '../answers.ts';
import type { Summary } from '../content.ts';
import { attestationTable, Performance, performanceFamilies, performanceOf } from '../duties.ts';
import { family, sample, UNPROVEN } from '../families.ts';
import type { Read, Timing } from '../read.ts';
import type { ChainOptions, Source } from '../source.ts';

/** Null if unknown. */
const Queue = z.object({
  count: z.number().nullable(),
  balance: Wei.nullable(),
  /** Unix seconds at which the last item leaves the queue. */
  end: z.number().nullable(),
});
type Queue = z.infer<typeof Queue>;

/** The state of one chain. */
export const Network = z.object({
  performance: z.object({ epoch: z.number(), sums: Performance }).optional(),
  /** `at`: when they were read (Unix ms), because the response has no time. */
  queues: z.object({ at: z.number(), byName: z.record(z.string(), Queue) }).optional(),
});
export type Network = z.infer<typeof Network>;

/** The duties of all validators of a chain, for comparison with yours, and the queues of the chain. */
export function networkSource(options: ChainOptions): Source<Network> {
  return {
    name: 'network',
    chain: options.chain,
    reads: [dutiesRead(options), queuesRead(options)],
    state: Network,
    empty: {},
    share: () => 0.1 / options.chains,
    metrics: (value, timing) => networkFamilies(options, value, timing),
    page: (value, timing) => networkPage(options, value, timing),
    more: {
      probe: {
        questions: () => [
          { request: requestTo('network_performance', { chain: options.chain }) },
          { request: requestTo('queues', { chain: options.chain }) },
        ],
      },
      leavesOut: (timing) => (timing.of('duties') && !timing.of('queues') ? 'without the queues' : ''),
    },
  };
}

function dutiesRead({ chain, intervalMs }: ChainOptions): Read<Network> {
  return {
    name: 'duties',
    endpoints: ['network_performance'],
    everyMs: intervalMs,
    async run({ api, signal }, previous) {
      const { data, range } = await api.request(requestTo('network_performance', { chain }), signal);
      expectPastEpoch('network_performance', chain, range.epoch, api.now());
      const read = { epoch: range.epoch, sums: performanceOf([data]) };
      return { value: { ...previous, performance: keepNewer(previous.performance, read, ({ epoch }) => epoch) } };
    },
  };
}

function queuesRead({ chain, intervalMs }: ChainOptions): Read<Network> {
  return {
    name: 'queues',
    endpoints: ['queues'],
    everyMs: intervalMs,
    slowestMs: intervalMs,
    async run({ api, signal }, previous) {
      const { data } = await api.request(requestTo('queues', { chain }), signal);
      return { value: { ...previous, queues: { at: api.now(), byName: queuesOf(data) } } };
    },
  };
}

/** How many other queues to show, and what their keys may look like, because they become labels. */
const MAX_OTHERS = 20;
const KEY = /^[a-z][a-z0-9_]{0,49}$/;

/** Pure. Before v2.1 one balance covers deposits and top-ups. Other queues have the name of their key. */
function queuesOf({ deposit_queue: deposit, exit_queue: exit, ...more }: QueuesAnswer['data']): Record<string, Queue> {
  const others = Object.entries(more).flatMap(([key, queue]) => {
    const isQueue = queue && (queue.count != null || queue.balance != null) && KEY.test(key);
    return isQueue ? [[key, queueOf(queue.count, queue.balance)] as const] : [];
  });
  return {
    ...Object.fromEntries(others.slice(0, MAX_OTHERS)),
    deposit: queueOf(
      deposit?.deposit_count,
      deposit?.deposit_balance ?? deposit?.balance,
      deposit?.estimated_processed_at,
    ),
    topup: queueOf(deposit?.topup_count, deposit?.topup_balance),
    exit: queueOf(exit?.count ?? exit?.validator_count, exit?.balance, exit?.estimated_processed_at),
  };
}

/** The least balance of one item, in wei. A smaller number is in another unit, such as gwei. */
const LEAST_ITEM = 10n ** 15n;

function queueOf(count: number | null | undefined, balance: string | null | undefined, end?: number | null): Queue {
  const isWei = balance != null && BigInt(balance) >= BigInt(count ?? 1) * LEAST_ITEM;
  return { count: count ?? null, balance: isWei ? balance : null, end: end || null };
}

function networkPage({ chain }: ChainOptions, value: Network, timing: Timing): Summary {
  const { duties } = shownNetwork(chain, value, timing);
  return duties ? { tables: attestationTable(chain, 'the network', [duties], timing.now) } : {};
}

/** Without queues while the budget leaves them out, or the service refuses them. */
function shownNetwork(chain: Chain, { performance, queues }: Network, { now, intervalMs, of }: Timing) {
  const dated = performance && { ...performance, at: epochEnd(chain, performance.epoch) };
  const queuesMs = of('queues');
  return {
    duties: fresh(dated, maxAge(USUAL_AGE.sums, of('duties') ?? intervalMs), now),
    queues: queuesMs === undefined ? undefined : fresh(queues, maxAge(0, queuesMs), now),
  };
}

function networkFamilies({ chain }: ChainOptions, value: Network, timing: Timing): Family[] {
  const { duties, queues } = shownNetwork(chain, value, timing);
  const each = (pick: (queue: Queue) => number | null, without?: string): Sample[] =>
    Object.entries(queues?.byName ?? {}).flatMap(([queue, one]) =>
      queue === without ? [] : sample(chain, pick(one), { queue }, queues?.until),
    );
  return [
    ...performanceFamilies('network', 'all validators of the chain', [{ labels: { chain }, duties }]),
    family(
      'network_epoch',
      'Last epoch of beaconchain_network_duties (range.epoch.end)',
      sample(chain, duties?.epoch, {}, duties?.until),
    ),
    family(
      'queue_validators',
      'Items in a queue, other queues by their key; before v2.1 the deposits include top-ups (deposit_queue.deposit_count, exit_queue.count, count)',
      each(({ count }) => count, 'topup'),
    ),
    family(
      'queue_balance_ether',
      'Ether in a queue, other queues by their key; before v2.1 the deposits include top-ups (deposit_balance, topup_balance, exit_queue.balance, balance)',
      each(({ balance }) => (balance === null ? null : etherOf(balance))),
    ),
    family(
      'queue_end_timestamp_seconds',
      'Estimated time at which the last item leaves a queue (estimated_processed_at)',
      each(({ end }) => end),
    ),
  ].map((one) => ({ ...one, help: `${one.help} ${UNPROVEN}.` }));
}
