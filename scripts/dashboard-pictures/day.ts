import { rendered, requestsAnswered } from '../../test/support/under-way.ts';
// The first import, because it patches modules that the program uses.

import { pino } from 'pino';
import { ConfigFile } from '../../src/config/config.ts';
import { Exporter } from '../../src/exporter/exporter.ts';
import { NO_DOCUMENTS } from '../../src/exporter/state.ts';
import { QUIET_MACHINE } from '../../src/sandbox/machines-data.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { HOUR, MINUTE, NOW } from '../../test/support/timing.ts';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { returns } from './returns.ts';
import { processLines, scrapedLines } from './scraped-lines.ts';
import type { Day } from './trouble.ts';

/** The end of the simulated day, Unix ms: not at a full hour, whose label the edge of a chart would cut. */
export const END = NOW + 24 * MINUTE;
export const HOURS = 25;
const SLOTS_PER_SLASHING = 6_000;
const SLOTS_PER_WATCHED_PROPOSAL = 300;
const WATCHED = { mainnet: [12_340, 12_345, 12_349], hoodi: [500] };

/**
 * What a Prometheus that scrapes the exporter once a minute has after a day, as lines of OpenMetrics. The real exporter polls the
 * sandbox on a virtual clock, so the day passes in a minute.
 */
export async function simulatedDay({ plan, expected, events }: Day): Promise<string[]> {
  const start = END - HOURS * HOUR;
  const clock = new VirtualClock(start, requestsAnswered);
  const service = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    clock,
    plan,
    slotsPerSlashing: SLOTS_PER_SLASHING,
    watched: { validators: WATCHED, slots: SLOTS_PER_WATCHED_PROPOSAL },
  });
  const { sandbox, url } = service;
  sandbox.wake(QUIET_MACHINE, 0);
  const settings = {
    config: ConfigFile.parse({
      api: { base_url: url },
      chains: { mainnet: { v1_base_url: url }, hoodi: { v1_base_url: `${url}/hoodi` } },
      machines: { expected, chain_rules: [{ match: 'hoodi-*', chain: 'hoodi' }] },
      validators: { watch: { mainnet: ['12340-12349'], hoodi: ['500-504'] } },
    }),
    key: sandbox.key,
  };
  const exporter = await Exporter.start({
    settings,
    readAgain: async () => settings,
    clock,
    log: pino({ level: 'silent' }),
    documents: NO_DOCUMENTS,
    processMetrics: false,
    isSimulated: true,
  });
  const lines = returns(sandbox.seed, start);
  const waiting = [...events];
  while (clock.now() < END) {
    for (let next = waiting[0]; next && clock.now() >= END - next.before; next = waiting[0]) {
      next.happen(sandbox, clock.now());
      waiting.shift();
    }
    await clock.advance(MINUTE);
    await rendered();
    const text = Buffer.concat([...exporter.metrics('text', false)]).toString();
    lines.push(...scrapedLines(text, clock.now()), ...processLines(clock.now()));
  }
  const stopped = exporter.stop();
  await clock.advance(MINUTE);
  await stopped;
  await service.close();
  return lines;
}
