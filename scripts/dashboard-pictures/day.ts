import { createServer } from 'node:http';
import { pino } from 'pino';
import { Exporter } from '../../src/exporter/exporter.ts';
import { NO_DOCUMENTS } from '../../src/exporter/state.ts';
import { spend } from '../../src/sandbox/account.ts';
import { control } from '../../src/sandbox/control.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import type { Sandbox } from '../../src/sandbox/world.ts';
import { ConfigFile } from '../../src/sources/registry.ts';
import { pastReturns, scrapedLines } from '../../test/support/exposition/scraped-lines.ts';
import { HOUR, MINUTE, NOW } from '../../test/support/time/timing.ts';
import { TRACKED, workDone } from '../../test/support/time/under-way.ts';
import { VirtualClock } from '../../test/support/time/virtual-clock.ts';

/** Unix ms: not a full hour, whose label the edge of a chart would cut. */
export const END = NOW + 24 * MINUTE;
export const START = END - 25 * HOUR;
const RETURN_DAYS = 100;
/** The labels that a scrape adds. */
const TARGET = 'job="beaconchain",instance="localhost:10032"';
const WATCHED = { mainnet: [12_340, 12_345, 12_349], hoodi: [] };

/** What happens, by ms before the end. */
const EVENTS: readonly (readonly [before: number, happen: (sandbox: Sandbox, now: number) => void])[] = [
  [16 * HOUR, outage(true)],
  [16 * HOUR - 4 * MINUTE, outage(false)],
  [9 * HOUR, (sandbox, now) => spend(sandbox.account, 60_000, now)],
  [7 * HOUR, order('/-/miss?validator=12341&epochs=9')],
  [6 * HOUR, order('/-/miss?validator=12347&epochs=4')],
  [5 * HOUR, order('/-/miss-proposal?validator=12345')],
  [4 * HOUR, order('/-/fill-disk?machine=node-b')],
  [3 * HOUR, order('/-/slash?validators=12342')],
  [2.5 * HOUR, outage(true)],
  [2.5 * HOUR - 12 * MINUTE, outage(false)],
  [1.5 * HOUR, order('/-/silence?machine=node-d')],
];

function order(path: string) {
  return (sandbox: Sandbox, now: number) => control(sandbox, { method: 'POST', path }, now);
}

/** While it is true, the service answers every request with a 500. */
let isDown = false;

function outage(begins: boolean) {
  return () => {
    isDown = begins;
  };
}

/**
 * The samples of a Prometheus that scrapes the exporter once a minute, after a day with some trouble, as lines of
 * OpenMetrics. The real exporter polls the sandbox on a virtual clock, so the day passes in a minute.
 */
export async function simulatedDay(): Promise<string[]> {
  const clock = new VirtualClock(START, workDone);
  const service = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    clock,
    plan: { perSecond: 5, perMonth: 200_000 },
    slotsPerSlashing: 6_000,
    watched: { validators: WATCHED, slots: 300 },
    createServer: (listener) =>
      createServer((request, response) => {
        // The date is that of today, and the exporter would take its own clock for wrong.
        response.sendDate = false;
        if (isDown) response.writeHead(500).end();
        else listener(request, response);
      }),
  });
  const { sandbox, url } = service;
  const settings = {
    config: ConfigFile.parse({
      api: { base_url: url },
      chains: { mainnet: { v1_base_url: url }, hoodi: { v1_base_url: `${url}/hoodi` } },
      machines: { expected: ['node-a', 'node-b', 'backup-1'], chain_rules: [{ match: 'hoodi-*', chain: 'hoodi' }] },
      validators: { epochs: true },
      groups: {
        home: { machines: ['node-a', 'node-b'], validators: { mainnet: ['12340-12344'] } },
        office: { machines: ['*'], validators: { mainnet: ['12345-12349'] } },
      },
    }),
    key: sandbox.account.key,
  };
  const exporter = await Exporter.start({
    settings,
    readAgain: async () => settings,
    clock,
    log: pino({ level: 'silent' }),
    documents: NO_DOCUMENTS,
    processMetrics: false,
    outside: TRACKED,
    isSimulated: true,
  });
  const lines = pastReturns(sandbox, START, RETURN_DAYS, TARGET);
  const waiting = [...EVENTS];
  while (clock.now() < END) {
    for (let next = waiting[0]; next && clock.now() >= END - next[0]; next = waiting[0]) {
      next[1](sandbox, clock.now());
      waiting.shift();
    }
    await clock.advance(MINUTE);
    const text = Buffer.concat([...exporter.metrics('text', false)]).toString();
    lines.push(...scrapedLines(`${text}\nup 1\n${processMetrics(clock.now() / 1000)}`, clock.now(), TARGET));
  }
  const stopped = exporter.stop();
  await clock.advance(MINUTE);
  await stopped;
  await service.close();
  return lines;
}

/** Plausible numbers, because this script's own say nothing about the exporter. */
function processMetrics(seconds: number): string {
  const resident = 9.2e7 + 4e6 * Math.sin(seconds / 4_000) + 1e6 * Math.sin(seconds / 300);
  const busy = 0.004 * (seconds % 1e7) + 3 * Math.sin(seconds / 5_000);
  return `process_resident_memory_bytes ${resident}\nprocess_cpu_seconds_total ${busy}`;
}
