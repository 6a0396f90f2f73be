import { expect, it } from 'vitest';
import { ConfigFile } from '../../src/config/config.ts';
import { Exporter } from '../../src/exporter/exporter.ts';
import { NO_DOCUMENTS } from '../../src/exporter/state.ts';
import { FaultServer } from '../support/faults/fault-server.ts';
import { logLines } from '../support/log/log-lines.ts';
import { NOW } from '../support/time/timing.ts';
import { TRACKED, workDone } from '../support/time/under-way.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';

const KEY = 'the-key';

/** Requests sent in the first 100 ms, in the first second, and in two seconds. */
async function requestsAfterStart(documents: typeof NO_DOCUMENTS): Promise<[number, number, number]> {
  const clock = new VirtualClock(NOW, workDone);
  const service = new FaultServer({ now: () => clock.now(), key: KEY, plan: { perSecond: 10 } });
  await service.listen();
  const { url } = service;
  const settings = {
    config: ConfigFile.parse({ api: { base_url: url }, chains: { mainnet: { v1_base_url: url } } }),
    key: KEY,
  };
  const { log } = logLines();
  const exporter = await Exporter.start({
    settings,
    clock,
    log,
    documents,
    processMetrics: false,
    outside: TRACKED,
    readAgain: async () => settings,
  });
  await clock.advance(100);
  const atOnce = service.requests.length;
  await clock.advance(900);
  const first = service.requests.length;
  await clock.advance(1_000);
  const second = service.requests.length;
  await exporter.stop();
  await service.close();
  return [atOnce, first, second];
}

it('the first start sends its first request at once', async () => {
  const [atOnce] = await requestsAfterStart(NO_DOCUMENTS);
  expect(atOnce).toBeGreaterThan(0);
});

it('a start after another process sends nothing in its first second, even if the ledger has no requests', async () => {
  const documents: typeof NO_DOCUMENTS = {
    ...NO_DOCUMENTS,
    load: async (name, schema) => (name === 'first-start' ? schema.parse({ at: NOW - 60_000 }) : undefined),
  };
  const [, first, second] = await requestsAfterStart(documents);
  expect(first).toBe(0);
  expect(second).toBeGreaterThan(0);
});
