import { rendered, requestsAnswered } from '../support/under-way.ts';
// The first import, because it patches modules that the program uses.

import { ConfigFile } from '../../src/config/config.ts';
import { Exporter } from '../../src/exporter/exporter.ts';
import type { Settings } from '../../src/exporter/settings.ts';
import { NO_DOCUMENTS } from '../../src/exporter/state.ts';
import type { AccountPlan } from '../../src/sandbox/plan.ts';
import { steppedBack } from '../support/exposition-text.ts';
import { FaultServer } from '../support/fault-server.ts';
import { logLines } from '../support/log-lines.ts';
import { Metrics } from '../support/scraped-metrics.ts';
import { NOW } from '../support/timing.ts';
import { settled, VirtualClock } from '../support/virtual-clock.ts';

export const KEY = 'the-key';

/** Sections of a configuration file, without those about the service. */
export type Sections = Readonly<Record<string, Record<string, unknown>>>;

interface World {
  readonly machines?: number;
  readonly plan: AccountPlan;
  readonly sections?: Sections;
}

/** Starts the exporter on virtual time, with a fault server as its service. */
export async function startSupervised({ machines, plan, sections = {} }: World) {
  // A reload ends only when its result is shown.
  const clock = new VirtualClock(NOW, async () => {
    await requestsAnswered();
    await rendered();
  });
  const service = new FaultServer({ now: () => clock.now(), key: KEY, plan, ...(machines && { machines }) });
  await service.listen();
  const { log, lines } = logLines();
  const settingsOf = (given: Sections, key = KEY): Settings => {
    const { url } = service;
    const { api = {}, ...rest } = given;
    const chains = { mainnet: { v1_base_url: url } };
    return { config: ConfigFile.parse({ api: { base_url: url, ...api }, chains, ...rest }), key };
  };
  let settings = settingsOf(sections);
  let readings = 0;
  let isHanging = false;
  const exporter = await Exporter.start({
    settings,
    clock,
    log,
    documents: NO_DOCUMENTS,
    processMetrics: false,
    readAgain: async () => {
      readings += 1;
      return isHanging ? new Promise<never>(() => undefined) : settings;
    },
  });
  const shown = (): Metrics => new Metrics(Buffer.concat([...exporter.metrics('text', false)]).toString());
  let before = shown().text;
  return {
    clock,
    service,
    lines,
    exporter,
    shown,
    readings: () => readings,
    /** Sets what the next reload reads. */
    configure: (next: Sections, key?: string): void => {
      settings = settingsOf(next, key);
    },
    /** From now on reading the configuration hangs. */
    hang: (): void => {
      isHanging = true;
    },
    reload: () => settled(clock, exporter.reload()),
    /** Reloads every `everyMs` for `forMs`. @throws if a reload fails or a counter steps back */
    async storm(everyMs: number, forMs: number, prepare: (i: number) => void = () => undefined): Promise<void> {
      const end = clock.monotonic() + forMs;
      for (let i = 0; clock.monotonic() < end; i += 1) {
        const start = clock.monotonic();
        prepare(i);
        const refusal = await settled(clock, exporter.reload());
        const after = shown().text;
        const lost = steppedBack(before, after);
        if (refusal !== undefined || lost.length > 0) throw new Error([refusal, ...lost].join('\n'));
        before = after;
        await clock.advance(Math.max(0, start + everyMs - clock.monotonic()));
      }
    },
    async stop(): Promise<void> {
      await settled(clock, exporter.stop());
      await service.close();
    },
  };
}
