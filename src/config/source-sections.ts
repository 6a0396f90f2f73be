import * as z from 'zod';
import { CHAIN_NAMES } from '../lib/chain.ts';
import { autoOrDuration, count, duration, either, flag, indexRange, perChain, SECOND, section } from './fields.ts';

const chain = z.enum(CHAIN_NAMES, { error: either(CHAIN_NAMES) });
const names = z.array(z.string({ error: 'a name (in quotes if it looks like a number)' }).min(1, { error: 'a name' }), {
  error: 'a list of names',
});

export const Machines = section({
  enabled: flag
    .prefault(true)
    .describe('false: the exporter sends no requests for this source and exposes no series of it.'),
  interval: duration(SECOND).prefault('1m').describe('The polling interval. The budget may stretch it.'),
  stale_after: autoOrDuration(SECOND)
    .prefault('auto')
    .describe(
      'The age at which the values of a silent machine are withdrawn; last_seen remains. auto: 10m or 2 x effective interval + 3m, whichever is longer.',
    ),
  forget_after: duration(SECOND).prefault('31d').describe('The age at which last_seen is withdrawn too.'),
  expected: names.prefault([]).describe('Machines that must exist. Their last_seen is 0 until they are seen.'),
  include: names.prefault([]).describe('Show only these machines. Empty: all machines.'),
  exclude: names.prefault([]).describe('Machines that are out of service. They have no series and no alerts.'),
  max: count.prefault(10_000).describe('The maximum number of machines. More machines are dropped and counted.'),
  chain: z
    .enum(['auto', ...CHAIN_NAMES], { error: either(['auto', ...CHAIN_NAMES]) })
    .prefault('auto')
    .describe(
      "The chain of machines that match no rule. auto: that of the machine's own node, found from two reports of its head slot; the first chain until then.",
    ),
  chain_rules: z
    .array(
      section({
        match: z.string({ error: 'a pattern such as "hoodi-*"' }).describe('A machine name; * matches any text.'),
        chain: chain.describe('The chain of the matching machines.'),
      }),
      {
        error: 'a list such as [{match: "hoodi-*", chain: hoodi}]',
      },
    )
    .prefault([])
    .describe('Rules that assign machines to chains. The first matching rule applies.'),
}).transform((machines) => ({
  enabled: machines.enabled,
  intervalMs: machines.interval,
  staleAfterMs: machines.stale_after,
  forgetAfterMs: machines.forget_after,
  expected: machines.expected,
  include: machines.include,
  exclude: machines.exclude,
  max: machines.max,
  chain: machines.chain,
  chainRules: machines.chain_rules,
}));

const ranges = z.array(indexRange, { error: 'a list of validator indices and ranges' });
const part = flag.prefault(true);

export const Validators = section({
  watch: z
    .union([ranges, perChain(ranges.optional())], {
      error: 'a list such as [12345, "20000-20099"], or one per chain such as {mainnet: [12345]}',
    })
    .prefault([])
    .describe(
      'Your validators, by index. If several chains are configured, set one list per chain. Without any, the other keys have no effect.',
    ),
  proposer_slashings: part.describe(
    'Also read who was slashed as a proposer: one request for each block with a proposer slashing. Requires slashings.',
  ),
  sync_committee: part.describe(
    'Also read which of them are in the current and the next sync committee, and count their seats in each block. Counting requires slashings.',
  ),
  status: part.describe('Also read who is online, their status and balances, and the duties of the last 24 hours.'),
  interval: duration(SECOND)
    .prefault('384s')
    .describe('The polling interval of the status, an epoch by default: the service computes it once an epoch.'),
}).transform((validators) => ({
  watch: validators.watch,
  proposerSlashings: validators.proposer_slashings,
  syncCommittee: validators.sync_committee,
  status: validators.status,
  intervalMs: validators.interval,
}));

/** The section of a source whose data change about once a day. */
const daily = {
  enabled: flag
    .prefault(true)
    .describe('false: the exporter sends no requests for this source and exposes no series of it.'),
  interval: duration(SECOND)
    .prefault('1h')
    .describe('How often to check whether new data are due. The budget may stretch it.'),
};

export const DailyReturns = section(daily).transform(({ enabled, interval }) => ({ enabled, intervalMs: interval }));

export const SyncCommittee = section(daily).transform(({ enabled, interval }) => ({ enabled, intervalMs: interval }));

export const Slashings = section({
  enabled: flag
    .prefault(true)
    .describe('false: the exporter sends no requests for this source and exposes no series of it.'),
  interval: duration(SECOND)
    .prefault('65s')
    .describe(
      'The polling interval. The budget may stretch it. The default is slightly longer than the minute for which the service caches a response.',
    ),
  catch_up: duration(0)
    .prefault('7d')
    .describe('How far back finalized epochs are read after the exporter was stopped.'),
}).transform((slashings) => ({
  enabled: slashings.enabled,
  intervalMs: slashings.interval,
  catchUpMs: slashings.catch_up,
}));
