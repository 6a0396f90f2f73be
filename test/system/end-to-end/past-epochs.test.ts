import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { epochAt, epochEnd, epochTime } from '../../../src/facts/chain.ts';
import { dutiesIn } from '../../../src/sandbox/epoch-duties.ts';
import { type Rewards, rewardsFor } from '../../../src/sandbox/rewards.ts';
import { validatorAt } from '../../../src/sandbox/validator.ts';
import type { Validator } from '../../../src/sandbox/validators-world.ts';
import type { Sandbox } from '../../../src/sandbox/world.ts';
import { Played } from '../../simulation/stories/played.ts';
import { DOCUMENT_QUERIES } from '../../support/contract/document-queries.ts';
import { scrapedLines } from '../../support/exposition/scraped-lines.ts';
import { startService } from '../../support/faults/service.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { BackfillRuns, FAST, KEY, promtoolLines } from '../../support/programs/backfill.ts';
import { HOUR, MINUTE } from '../../support/time/timing.ts';
import { type Prometheus, startPrometheus } from '../../support/tools/prometheus.ts';
import { areMissing, outputOf, PROMETHEUS, PROMTOOL, runTool } from '../../support/tools/tools.ts';

const TARGET = 'job="beaconchain",instance="exporter:10032"';
const HOME = [12_340, 12_341, 12_342, 12_343];
const REST = [12_344, 12_345, 12_346, 12_347, 12_348, 12_349];
const VALIDATORS = { watch: ['12344-12349'], epochs: true };
const GROUPS = { home: { validators: ['12340-12343'] } };

/** In whole minutes, so that the last scrape is at the end. */
const END = Math.floor(Date.now() / MINUTE) * MINUTE;
const LIVE = END - 2 * HOUR;
const START = epochTime('mainnet', epochAt('mainnet', LIVE - 8 * HOUR));
/** The nodes at home are off for nine epochs. */
const OFF = epochTime('mainnet', epochAt('mainnet', LIVE - 5 * HOUR));
const ON = OFF + 9 * 384;

function turnOff({ chains }: Sandbox): void {
  for (const validator of HOME) chains.mainnet.silences.push({ validator, from: OFF * 1000, until: ON * 1000 });
}

/** What these validators did between two ends of epochs. It shares no code with the exporter. */
function truthOf({ chains: { mainnet: world } }: Sandbox, validators: readonly number[], from: number, until: number) {
  const rewards: Rewards[] = [];
  let [included, missed] = [0, 0];
  for (let epoch = epochAt('mainnet', from * 1000); epochEnd('mainnet', epoch) <= until * 1000; epoch += 1) {
    for (const index of validators) {
      const validator = validatorAt(world, index, epoch) as Validator;
      const [duties] = dutiesIn(world, [validator], epoch);
      if (!duties) throw new Error('no duties');
      included += duties.included;
      missed += duties.assigned - duties.included;
      rewards.push(rewardsFor(duties, validator.balances.effective));
    }
  }
  const sum = (of: (one: Rewards) => bigint): bigint => rewards.reduce((all, one) => all + of(one), 0n);
  const ofVotes =
    (which: 'reward' | 'penalty' | 'missed') =>
    ({ head, source, target }: Rewards) =>
      head[which] + source[which] + target[which];
  const block = ({ proposal: one }: Rewards) =>
    one.attestation_inclusion_reward + one.sync_inclusion_reward + one.slashing_inclusion_reward;
  const missedBlock = ({ proposal: one }: Rewards) => one.missed_cl_reward + one.missed_el_reward;
  return {
    included,
    missed,
    rewards: {
      attestation: sum(ofVotes('reward')),
      sync_committee: sum(({ sync }) => sync.reward),
      proposal: sum(block),
      execution: sum(({ proposal }) => proposal.execution_layer_reward),
    },
    penalties: { attestation: sum(ofVotes('penalty')), sync_committee: sum(({ sync }) => sync.penalty) },
    missedRewards: {
      attestation: sum(ofVotes('missed')),
      sync_committee: sum(({ sync }) => sync.missed),
      proposal: sum(missedBlock),
    },
  };
}

function ether(...wei: readonly bigint[]): number {
  return Number(`${wei.reduce((sum, one) => sum + one, 0n)}e-18`);
}

/** The backfill of an exporter that has counted epochs for two hours, and the scrapes of these, in a real Prometheus. */
describe.skipIf(areMissing(PROMETHEUS, PROMTOOL))('system/end-to-end/past-epochs', () => {
  let sandbox: Sandbox;
  let prometheus: Prometheus;
  /** The first epoch that the exporter counted, and the last one. */
  let [first, last] = [0, 0];

  beforeAll(async () => {
    const story = new Played({ start: LIVE, file: { validators: VALIDATORS, groups: GROUPS } });
    ({ sandbox } = story);
    turnOff(sandbox);
    const lines: string[] = [];
    while (story.now < END) {
      await story.advance(MINUTE);
      const own = story.metrics.split('\n').filter((line) => /^beaconchain_watched_\w+(_total|_epoch)\{/.test(line));
      lines.push(...scrapedLines(own.join('\n'), story.now, TARGET));
    }
    const counted = (part: string): number[] =>
      lines.flatMap((line) => {
        const isOf = line.startsWith('beaconchain_watched_counted_epoch') && line.includes(`part="${part}"`);
        return isOf ? Number(line.split(' ').at(-2)) : [];
      });
    [first, last] = [Math.min(...counted('epoch_duties')), Math.max(...counted('epoch_duties'))];
    expect(counted('epoch_rewards').at(-1)).toBe(last);
    expect(Math.min(...counted('epoch_rewards'))).toBe(first);

    const data = join(temporaryFolder(), 'data');
    mkdirSync(data);
    const scraped = join(temporaryFolder(), 'scraped.om');
    writeFileSync(scraped, `${lines.join('\n')}\n# EOF\n`);
    outputOf(PROMTOOL, ['tsdb', 'create-blocks-from', 'openmetrics', '--quiet', scraped, data]);

    const api = await startService(KEY, FAST);
    turnOff(api.sandbox);
    const [watched, groups] = [
      { ...VALIDATORS, watch: { mainnet: VALIDATORS.watch } },
      { home: { validators: { mainnet: GROUPS.home.validators } } },
    ];
    const runs = new BackfillRuns(
      api,
      {},
      temporaryFolder(),
      'past.om',
      `validators: ${JSON.stringify(watched)}\ngroups: ${JSON.stringify(groups)}`,
    );
    const span = [`--start=${START}`, `--end=${epochTime('mainnet', first)}`];
    const labels = ['--label=job=beaconchain', '--label=instance=exporter:10032'];
    const { stdout, stderr } = await runs.run('--source=validators', ...span, ...labels);
    const epochs = (epochTime('mainnet', first) - START) / 384;
    // Two chunks.
    expect(stderr).toContain(`about ${4 * epochs}\n`);
    expect(stderr).toContain(`${2 * epochs} requests and 0 s each for epoch duties and epoch rewards`);
    for (const words of promtoolLines(stdout))
      expect(runTool(PROMTOOL, [...words.slice(0, -1), data])).toMatchObject({ status: 0, stderr: '' });
    prometheus = await startPrometheus({}, { data });
  });

  it('promtool accepts the file, and a query returns every value to the last bit, from 0 at the start', async () => {
    const ofHome = `{chain="mainnet",group="home",duty="attestation"}`;
    const [series, ...others] = await prometheus.samples(`beaconchain_watched_rewards_ether_total${ofHome}`);
    expect(others).toEqual([]);
    const past = (series?.values ?? []).filter(([at]) => at <= epochTime('mainnet', first));
    const ends = Array.from({ length: past.length - 1 }, (_, i) => START + 384 * (i + 1));
    const truth = ends.map((at) => [at, ether(truthOf(sandbox, HOME, START, at).rewards.attestation)]);
    expect(past.map(([at, value]) => [at, Number(value)])).toEqual([[START + 0.5, 0], ...truth]);
    expect(past.length).toBeGreaterThan(70);
  });

  it('increase() counts each epoch once over the backfill and the live counters', async () => {
    const attestations = `beaconchain_watched_attestations_total{group="home"}[12h] @ ${END / 1000}`;
    expect(await valuesOf(`resets(${attestations})`, 'status')).toEqual({ included: 1, missed: 1 });
    const { included, missed } = truthOf(sandbox, HOME, START, epochEnd('mainnet', last) / 1000);
    expect(missed).toBe(9 * HOME.length);
    expect(await valuesOf(`increase(${attestations})`, 'status')).toEqual({ included, missed });
  });

  it.each([
    ['earned in 30 days, less', 0.005, ({ rewards, penalties }: Truth) => [...all(rewards), ...lost(penalties)]],
    ['lost as penalties in 30 days', 0.005, ({ penalties }: Truth) => all(penalties)],
    ['missed in 30 days', 0.005, ({ missedRewards }: Truth) => all(missedRewards)],
    ['of a quarter', 0, ({ rewards }: Truth) => all(rewards)],
    ['in the tax year', 0, ({ rewards, penalties }: Truth) => [...all(rewards), ...lost(penalties)]],
    ['an outage cost', 0, ({ penalties, missedRewards }: Truth) => [...all(penalties), ...all(missedRewards)]],
  ] as const)('queries.md: ether %s', async (question, off, of) => {
    const [query, ...others] = DOCUMENT_QUERIES.filter((one) => one.question.includes(question));
    expect(others).toEqual([]);
    const isOutage = question === 'an outage cost';
    const [from, until] = isOutage ? [OFF, ON + 1_800] : [START, epochEnd('mainnet', last) / 1000];
    const times = isOutage ? [until, until, from, from] : [END / 1000, END / 1000];
    const expr = (query?.expr ?? '').replace(/@ \d+/g, () => `@ ${times.shift()}`);
    const shown = await valuesOf(`sum by (group) (${expr})`, 'group');
    for (const [group, validators] of [
      ['home', HOME],
      ['', REST],
    ] as const) {
      const truth = ether(...of(truthOf(sandbox, validators, from, until)));
      const difference = Math.abs((shown[group] ?? Number.NaN) - truth);
      // The others may have lost nothing in an outage.
      expect(difference, `${group}: ${shown[group]} ${truth}`).toBeLessThanOrEqual((off + 1e-9) * truth + 1e-15);
      // Nine epochs of four validators.
      if (isOutage && group === 'home') expect(truth).toBeGreaterThan(36 * 9_000e-9);
    }
  });

  async function valuesOf(query: string, label: string): Promise<Record<string, number>> {
    const series = await prometheus.query(query);
    return Object.fromEntries(series.map(({ metric, value }) => [metric[label] ?? '', Number(value[1])]));
  }
});

type Truth = ReturnType<typeof truthOf>;

function all(wei: Readonly<Record<string, bigint>>): bigint[] {
  return Object.values(wei);
}

function lost(wei: Readonly<Record<string, bigint>>): bigint[] {
  return all(wei).map((one) => -one);
}
