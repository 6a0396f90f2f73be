import { type Config, ConfigFile } from '../../src/config/config.ts';
import type { Chain } from '../../src/lib/chain.ts';
import type { Random } from './random.ts';

/** How the exporter is run. Plain data. */
export interface ExporterSetting {
  /** 0: one process that keeps its state in files. */
  readonly replicas: 0 | 2 | 3;
  readonly chains: readonly Chain[];
  readonly key: string;
  /** Seconds. */
  readonly intervals: { readonly machines: number; readonly slashings: number; readonly daily: number };
  readonly utilization: number;
  readonly timeoutSeconds: number;
  /** Seconds; undefined: `auto`. */
  readonly staleAfter?: number;
  readonly catchUpDays: number;
  readonly watch: readonly number[];
  readonly proposerNames: boolean;
  readonly members: boolean;
  /** Names in `machines.expected` and `machines.exclude`. */
  readonly expected: readonly string[];
  readonly exclude: readonly string[];
  /** How often the exporter's own metrics are rendered, ms. The program does it each second; long stories less often. */
  readonly refreshMs: number;
}

export const USUAL: ExporterSetting = {
  replicas: 0,
  chains: ['mainnet'],
  key: 'key-0',
  intervals: { machines: 60, slashings: 65, daily: 3_600 },
  utilization: 0.9,
  timeoutSeconds: 10,
  catchUpDays: 7,
  watch: [],
  proposerNames: false,
  members: false,
  expected: [],
  exclude: [],
  refreshMs: 1_000,
};

export function drawExporter(random: Random): ExporterSetting {
  return {
    ...USUAL,
    replicas: random.pick([0, 0, 0, 2, 3]),
    chains: random.pick([['mainnet'], ['mainnet'], ['mainnet', 'hoodi']] as const),
    intervals: {
      machines: random.pick([60, 60, 30, random.scale(30, 1_800)]),
      slashings: random.pick([65, 65, 30, random.scale(30, 1_800)]),
      daily: random.pick([3_600, random.scale(600, 7_200), random.scale(600, 1_800)]),
    },
    utilization: random.pick([0.9, 0.9, 0.5, 0.3 + 0.6 * random.unit()]),
    timeoutSeconds: random.pick([10, 10, 3, 30]),
    ...(random.happens(0.2) ? { staleAfter: random.scale(300, 7_200) } : {}),
    watch: random.some([7, 12, 50, 99]),
    proposerNames: random.happens(0.2),
    members: random.happens(0.2),
    expected: random.happens(0.2) ? ['m0', 'never-seen'] : [],
    exclude: random.happens(0.1) ? ['m1'] : [],
    catchUpDays: random.pick([7, random.between(1, 6) / 24]),
  };
}

/** The configuration file of a setting, as the program reads it. */
export function configOf(setting: ExporterSetting): Config {
  const { intervals, staleAfter } = setting;
  const hosts = { mainnet: MAINNET_HOST, hoodi: HOODI_HOST };
  return ConfigFile.parse({
    api: { base_url: MAINNET_HOST, timeout: `${setting.timeoutSeconds}s` },
    budget: { utilization: setting.utilization },
    chains: Object.fromEntries(setting.chains.map((chain) => [chain, { v1_base_url: hosts[chain] }])),
    machines: {
      interval: `${intervals.machines}s`,
      expected: setting.expected,
      exclude: setting.exclude,
      ...(staleAfter === undefined ? {} : { stale_after: `${staleAfter}s` }),
    },
    daily_returns: { interval: `${intervals.daily}s` },
    slashings: {
      interval: `${intervals.slashings}s`,
      catch_up: `${Math.round(24 * setting.catchUpDays)}h`,
      watch: setting.watch,
      proposer_names: setting.proposerNames,
    },
    sync_committee: { interval: `${intervals.daily}s`, members: setting.members },
    state: setting.replicas === 0 ? { dir: STATE_DIR } : { redis: { url: 'redis://redis', prefix: REDIS_PREFIX } },
  });
}

export const MAINNET_HOST = 'http://mainnet';
export const HOODI_HOST = 'http://hoodi';
export const STATE_DIR = '/state';
export const REDIS_PREFIX = 'exporter';
