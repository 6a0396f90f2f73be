import type { FaultRequest } from '../../test/support/fault-server.ts';
import { seriesValue } from './scraper.ts';

/** What is due every minute. */
const ASKED: Readonly<Record<string, RegExp>> = {
  machines: /\/machine-metrics/,
  'slashings mainnet': /^\/api\/v1\/epoch\//,
  'slashings hoodi': /^\/hoodi\/api\/v1\/epoch\//,
};

export function countPolls(requests: readonly FaultRequest[]): Record<string, number> {
  return Object.fromEntries(
    Object.entries(ASKED).map(([what, path]) => [what, requests.filter((one) => path.test(one.path)).length]),
  );
}

/** Sources that are not well. */
export function missedPolls(text: string): string[] {
  const series = [
    'beaconchain_source_up{source="machines"}',
    ...['mainnet', 'hoodi'].map((chain) => `beaconchain_source_up{source="slashings",chain="${chain}"}`),
  ];
  return series.filter((one) => seriesValue(text, one) !== 1).map((one) => `${one} is ${seriesValue(text, one)}`);
}
