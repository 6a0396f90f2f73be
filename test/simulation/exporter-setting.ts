import type { Chain } from '../../src/facts/chain.ts';
import { type Config, ConfigFile } from '../../src/sources/registry.ts';
import type { Random } from './random.ts';

/** How the exporter is run. Plain data. */
export interface ExporterSetting {
  readonly chains: readonly Chain[];
  readonly key: string;
  /** Seconds. */
  readonly intervals: { readonly machines: number; readonly slashings: number; readonly daily: number };
  readonly utilization: number;
  readonly timeoutSeconds: number;
  /** Seconds; 0: `auto`. */
  readonly staleAfter: number;
  readonly catchUpHours: number;
  /** Validators of the first chain. */
  readonly watch: readonly number[];
  /** Whether every epoch of them is counted. */
  readonly epochs: true | 'auto';
  /** Names in `machines.expected`. */
  readonly expected: readonly string[];
  /** How often the exporter's own metrics are rendered, ms. The program does it each second; long stories less often. */
  readonly refreshMs: number;
  /** The longest time for which its loop sleeps, where nothing is due, ms. Absent: that of the program. */
  readonly napMs?: number;
  /** What its file says, in place of the fields above. */
  readonly file?: object;
}

export function drawExporter(random: Random): ExporterSetting {
  return {
    key: 'key-0',
    refreshMs: 1_000,
    chains: random.pick([['mainnet'], ['mainnet'], ['mainnet', 'hoodi']] as const),
    intervals: {
      machines: random.pick([60, 60, 30, random.scale(30, 1_800)]),
      slashings: random.pick([65, 65, 30, random.scale(30, 1_800)]),
      daily: random.pick([3_600, random.scale(600, 7_200), random.scale(600, 1_800)]),
    },
    utilization: random.pick([0.9, 0.9, 0.5, 0.3 + 0.6 * random.unit()]),
    timeoutSeconds: random.pick([10, 10, 3, 30]),
    staleAfter: random.happens(0.4) ? random.scale(300, 7_200) : 0,
    catchUpHours: random.pick([168, random.between(1, 6)]),
    watch: random.some([7, 12, 50, 99]),
    expected: random.happens(0.2) ? ['m0', 'never-seen'] : [],
    epochs: random.pick([true, true, 'auto']),
  };
}

/** The configuration of a setting, as the program reads it. */
export function configOf(setting: ExporterSetting): Config {
  const { intervals, staleAfter } = setting;
  const hosts = { mainnet: 'http://mainnet', hoodi: 'http://hoodi' };
  if (setting.file) return ConfigFile.parse(setting.file);
  return ConfigFile.parse({
    api: { base_url: hosts.mainnet, timeout: `${setting.timeoutSeconds}s` },
    budget: { utilization: setting.utilization },
    chains: Object.fromEntries(setting.chains.map((chain) => [chain, { v1_base_url: hosts[chain] }])),
    machines: {
      interval: `${intervals.machines}s`,
      expected: setting.expected,
      stale_after: staleAfter === 0 ? 'auto' : `${staleAfter}s`,
    },
    daily_returns: { interval: `${intervals.daily}s` },
    slashings: { interval: `${intervals.slashings}s`, catch_up: `${setting.catchUpHours}h` },
    // The service of the simulation has only what the specification describes, and every epoch.
    validators: {
      watch: { [setting.chains[0] ?? 'mainnet']: setting.watch },
      epochs: setting.epochs,
      catch_up: `${setting.catchUpHours}h`,
      ...{ proposer_slashings: false, sync_committee: false, status: false },
    },
    sync_committee: { interval: `${intervals.daily}s` },
    state: { dir: '/state' },
  });
}
