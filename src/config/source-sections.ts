import { z } from 'zod';
import { CHAIN_NAMES } from '../lib/chain.ts';
import {
  autoOrDuration,
  count,
  duration,
  either,
  flag,
  indexRange,
  perChain,
  positive,
  SECOND,
  section,
} from './fields.ts';

/** Only the ratio to other weights counts. The limit keeps their sum finite. */
const MAX_WEIGHT = 1_000_000;
const weight = positive.max(MAX_WEIGHT, { error: `a number above 0 and up to ${MAX_WEIGHT}` });
const chain = z.enum(CHAIN_NAMES, { error: either(CHAIN_NAMES) });
const names = z.array(z.string({ error: 'a name (in quotes if it looks like a number)' }).min(1, { error: 'a name' }), {
  error: 'a list of names',
});

export const Machines = section({
  enabled: flag.prefault(true).describe('false: no request and no series.'),
  interval: duration(SECOND).prefault('1m').describe('How often to poll; the budget may stretch it.'),
  weight: weight.prefault(2).describe('Share of a scarce budget, against the other sources.'),
  stale_after: autoOrDuration(SECOND)
    .prefault('auto')
    .describe(
      'When the values of a silent machine are withdrawn; last_seen stays. auto: the longer of 10m and 2 x effective interval + 3m.',
    ),
  forget_after: duration(SECOND).prefault('31d').describe('When last_seen goes too.'),
  expected: names.prefault([]).describe('Machines that must exist: last_seen is 0 until they are seen.'),
  include: names.prefault([]).describe('Only these machines. Empty: all.'),
  exclude: names.prefault([]).describe('Machines taken out of service: no series, no alert.'),
  max: count.prefault(10_000).describe('Machines beyond it are dropped and counted.'),
  chain: chain
    .optional()
    .describe('The chain of machines that no rule matches. Needed when there are several chains; else the only one.'),
  chain_rules: z
    .array(
      section({
        match: z.string({ error: 'a pattern such as "hoodi-*"' }).describe('A name; * stands for any text.'),
        chain: chain.describe('The chain of the machines that match.'),
      }),
      {
        error: 'a list such as [{match: "hoodi-*", chain: hoodi}]',
      },
    )
    .prefault([])
    .describe('Which machines are of which chain; the first match counts.'),
  timestamps: flag.prefault(false).describe("true: samples carry the time of the machine's record."),
}).transform((machines) => ({
  enabled: machines.enabled,
  intervalMs: machines.interval,
  weight: machines.weight,
  staleAfterMs: machines.stale_after,
  forgetAfterMs: machines.forget_after,
  expected: machines.expected,
  include: machines.include,
  exclude: machines.exclude,
  max: machines.max,
  chain: machines.chain,
  chainRules: machines.chain_rules,
  timestamps: machines.timestamps,
}));

/** Of data that changes about once a day. */
const daily = {
  enabled: flag.prefault(true).describe('false: no request and no series.'),
  interval: duration(SECOND)
    .prefault('1h')
    .describe('How often to look whether something new is due; the budget may stretch it.'),
  weight: weight.prefault(1).describe('Share of a scarce budget, against the other sources.'),
};

export const DailyReturns = section(daily).transform(({ enabled, interval, weight }) => ({
  enabled,
  intervalMs: interval,
  weight,
}));

export const SyncCommittee = section({
  ...daily,
  members: flag
    .prefault(false)
    .describe(
      'true: also reads which validators of slashings.watch are members, now and in the next period. Asks an endpoint that is not in the specification.',
    ),
}).transform(({ enabled, interval, weight, members }) => ({ enabled, intervalMs: interval, weight, members }));

const ranges = z.array(indexRange, { error: 'a list of validator indices and ranges' });

export const Slashings = section({
  enabled: flag.prefault(true).describe('false: no request and no series.'),
  interval: duration(SECOND)
    .prefault('65s')
    .describe(
      'How often to poll; the budget may stretch it. The default is a little more than the minute for which the service caches an answer.',
    ),
  weight: weight.prefault(3).describe('Share of a scarce budget, against the other sources.'),
  catch_up: duration(0).prefault('7d').describe('How far back finalized epochs are read after a stop.'),
  proposer_names: flag
    .prefault(false)
    .describe(
      'true: also reads who was slashed as a proposer. Asks an endpoint that is not in the specification, once for each block with such a slashing.',
    ),
  watch: z
    .union([ranges, perChain(ranges.optional())], {
      error: 'a list such as [12345, "20000-20099"], or one per chain such as {mainnet: [12345]}',
    })
    .prefault([])
    .describe(
      'Your validators: metrics and alerts tell their proposals, slashings and sync committees. With several chains, one list for each.',
    ),
}).transform((slashings) => ({
  enabled: slashings.enabled,
  intervalMs: slashings.interval,
  weight: slashings.weight,
  catchUpMs: slashings.catch_up,
  proposerNames: slashings.proposer_names,
  watch: slashings.watch,
}));
