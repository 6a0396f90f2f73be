import type { ServiceRequest } from '../../test/support/fault-server.ts';
import { seriesValue } from './scraper.ts';

/** What is due every minute. */
const ASKED: Readonly<Record<string, RegExp>> = {
  machines: /\/machine-metrics/,
  'slashings mainnet': /^\/api\/v1\/epoch\//,
  'slashings hoodi': /^\/hoodi\/api\/v1\/epoch\//,
};

export function countPolls(requests: readonly ServiceRequest[]): Record<string, number> {
  return Object.fromEntries(
    Object.entries(ASKED).map(([what, path]) => [what, requests.filter((one) => path.test(one.path)).length]),
  );
}

const SOURCES: Readonly<Record<string, string>> = {
  machines: 'source="machines"',
  'slashings mainnet': 'source="slashings",chain="mainnet"',
  'slashings hoodi': 'source="slashings",chain="hoodi"',
};

/** Polls that came to an end, as they are shown: what is interrupted sends requests too. */
export function endedPolls(text: string): Record<string, number> {
  return Object.fromEntries(
    Object.entries(SOURCES).map(([what, labels]) => [
      what,
      seriesValue(text, `beaconchain_source_attempts_total{${labels}}`),
    ]),
  );
}

/** Sources that are not well. */
export function missedPolls(text: string): string[] {
  const series = Object.values(SOURCES).map((labels) => `beaconchain_source_up{${labels}}`);
  return series.filter((one) => seriesValue(text, one) !== 1).map((one) => `${one} is ${seriesValue(text, one)}`);
}
