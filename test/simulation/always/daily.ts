import { CHAIN_NAMES, type Chain } from '../../../src/lib/chain.ts';
import { datapoints } from '../../../src/sandbox/daily-returns-data.ts';
import { MINUTE } from '../../support/timing.ts';
import { type Scrape, valueIn } from '../scrape.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { Successes } from './circumstances.ts';
import { Losses } from './losses.ts';

const DAY = 'beaconchain_daily_return_day';
const SLACK_MS = MINUTE;

type Amounts = Record<string, string>;

interface Day {
  readonly day: number;
  readonly day_start: number;
  readonly day_end: number;
  readonly effective_balance: string;
  readonly start_balance: string;
  readonly end_balance: string;
  readonly deposits: string;
  readonly rewards: Amounts;
  readonly apr: Record<string, number>;
  readonly moving_averages: Record<string, { readonly apr: Record<string, number>; readonly rewards: Amounts }>;
}

/** The nearest double: the parser of JavaScript rounds a decimal correctly, whatever its exponent. */
function ether(wei: string | undefined): number {
  return Number(`${wei}e-18`);
}

/** Every series of a day, without prefix and chain, and its value. */
function seriesOfDay(day: Day): [series: string, labels: string, value: number][] {
  const layers = ['consensus', 'execution'].flatMap((layer): [string, string, number][] => [
    ['rewards_ether', `layer="${layer}"`, ether(day.rewards[`${layer}_layer`])],
    ['apr_ratio', `layer="${layer}"`, Number(day.apr[`${layer}_layer`])],
  ]);
  const averages = ['7d', '31d'].flatMap((window) => {
    const { apr, rewards } = day.moving_averages[`window_${window}`] ?? { apr: {}, rewards: {} };
    const combined = ['moving_average_combined_apr_ratio', `window="${window}"`, Number(apr['combined'])] as const;
    const perLayer = ['consensus', 'execution'].flatMap((layer): [string, string, number][] => [
      ['moving_average_apr_ratio', `window="${window}",layer="${layer}"`, Number(apr[`${layer}_layer`])],
      ['moving_average_rewards_ether', `window="${window}",layer="${layer}"`, ether(rewards[`${layer}_layer`])],
    ]);
    return [[...combined] as [string, string, number], ...perLayer];
  });
  return [
    ['day', '', day.day],
    ['start_timestamp_seconds', '', day.day_start],
    ['end_timestamp_seconds', '', day.day_end],
    ['effective_balance_ether', '', ether(day.effective_balance)],
    ['start_balance_ether', '', ether(day.start_balance)],
    ['end_balance_ether', '', ether(day.end_balance)],
    ['deposits_ether', '', ether(day.deposits)],
    ['total_rewards_ether', '', ether(day.rewards['total'])],
    ['combined_apr_ratio', '', Number(day.apr['combined'])],
    ...layers,
    ...averages,
  ];
}

/** The day that is shown exists, is whole and exact, and is never followed by an earlier one. */
export function daysShown(): Check {
  const shown = new Map<string, number>();
  const whole = new Set<string>();
  const successes = new Successes();
  const losses = new Losses();
  return {
    name: 'daily returns: the newest day, exactly',
    onScrape(scrape, world) {
      successes.see(scrape, world);
      if (losses.mayStepBack(scrape.host, world))
        for (const chain of CHAIN_NAMES) shown.delete(`${scrape.host} ${chain}`);
      for (const chain of world.lastRead.chains) {
        const wrong = dayWrong(scrape, chain, world);
        if (wrong) return `${scrape.host}: ${chain}: ${wrong}`;
      }
      return undefined;
    },
    atEnd(world, scrapes) {
      for (const scrape of scrapes) {
        for (const chain of world.exporter.chains) {
          const wrong = lateWrong(scrape, chain, world);
          if (wrong) return `${scrape.host}: ${chain}: ${wrong}`;
        }
      }
      return undefined;
    },
  };

  function dayWrong(scrape: Scrape, chain: Chain, world: World): string | undefined {
    const { service } = world;
    const day = valueIn(scrape, DAY, `chain="${chain}"`);
    const key = `${scrape.host} ${chain}`;
    const before = shown.get(key);
    const isGone = day === undefined && !world.hasChangedChains;
    if (before !== undefined && (isGone || Number(day) < before)) return `day ${before} was shown, and then ${day}`;
    // A process that starts restores it from the state.
    const id = `${key} ${scrape.process} ${day}`;
    if (day === undefined || whole.has(id)) return undefined;
    shown.set(key, day);
    const newest = service.periods.newestDay(chain, scrape.at);
    if (day > newest) return `day ${day} is shown, but the newest is ${newest}`;
    const [truth] = datapoints(service.setting.seed, chain, day, day) as Day[];
    if (!truth) return `there is no day ${day}`;
    for (const [name, labels, expected] of seriesOfDay(truth)) {
      const all = labels === '' ? `chain="${chain}"` : `chain="${chain}",${labels}`;
      const value = valueIn(scrape, `beaconchain_daily_return_${name}`, all);
      if (value !== expected) return `${name}{${all}} of day ${day} is ${value}, not ${expected}`;
    }
    whole.add(id);
    return undefined;
  }

  /** A day that was there at the last success is shown. Otherwise the next one is asked for when it is due. */
  function lateWrong(scrape: Scrape, chain: Chain, world: World): string | undefined {
    const source = `source="daily_returns",chain="${chain}"`;
    const { service } = world;
    const day = valueIn(scrape, DAY, `chain="${chain}"`);
    if (day === undefined) return successes.areDue(scrape, source) ? 'no day is shown' : undefined;
    const newest = service.periods.newestDay(chain, scrape.at);
    if (day === newest) return undefined;
    const told = (name: string): number => 1_000 * (valueIn(scrape, `beaconchain_source_${name}`, source) ?? 0);
    const last = told('last_attempt_timestamp_seconds');
    // The learned delay is at most that of a day that was late, and a day passes at most between two polls.
    const due = last + Math.max(86_400_000, told('interval_seconds')) + SLACK_MS;
    if (scrape.at > due && successes.areDue(scrape, source))
      return `the last attempt was at ${last}, and day ${newest} is there`;
    if (last >= world.calmSince && told('last_success_timestamp_seconds') > last) {
      const then = service.periods.newestDay(chain, last - SLACK_MS);
      if (day < then) return `day ${then} was there at the last success, and ${day} is shown`;
    }
    return undefined;
  }
}
