import { type ApiOptions, createApi, routeOf } from '../../../src/api/client.ts';
import { emptyLedger, limitsOf, withKey } from '../../../src/budget/ledger.ts';
import { RateLimiter } from '../../../src/budget/rate-limiter.ts';
import { budgetViewOf } from '../../../src/exporter/picture.ts';
import { fingerprintOf } from '../../../src/exporter/state.ts';
import { jsonLogger } from '../../../src/lib/log.ts';
import type { SourceView } from '../../../src/scheduler/views.ts';
import type { Source } from '../../../src/sources/source.ts';
import { sourceId } from '../../../src/state/entry.ts';
import { ViewedScheduler } from '../../support/viewed-scheduler.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { Random } from '../random.ts';
import { Network, type NetworkSetting, NO_FAULTS } from './network.ts';
import { Service } from './service.ts';
import type { ServiceSetting } from './setting.ts';
import { transportOf } from './transport.ts';

const API: Omit<ApiOptions, 'key'> = {
  baseUrl: 'http://service',
  v1BaseUrls: { mainnet: 'http://service', hoodi: 'http://hoodi.service' },
  userAgent: 'simulation',
};

interface ProgramOptions {
  readonly setting: ServiceSetting;
  readonly sources: readonly Source[];
  /** Unix ms. */
  readonly start: number;
  readonly network?: NetworkSetting;
}

/** The program from scheduler to client against a service of the simulation, on a virtual clock. */
export class Program {
  readonly clock: VirtualClock;
  readonly service: Service;
  readonly network: Network;
  readonly rateLimiter: RateLimiter;
  readonly scheduler: ViewedScheduler;
  /** Records that the program could not read, by endpoint. */
  readonly invalid: Record<string, number> = {};
  readonly #abort = new AbortController();
  readonly #run: Promise<void>;

  constructor({ setting, sources, start, network }: ProgramOptions) {
    const clock = new VirtualClock(start);
    const random = new Random(setting.seed, 'program');
    this.clock = clock;
    this.service = new Service(setting, random.fork('service'), start);
    this.network = new Network(network ?? { latency: { low: 40, high: 120 }, faults: NO_FAULTS });
    const wire = { process: 'a', timeoutMs: 30_000, time: clock, random: random.fork('wire') };
    const options: ApiOptions = { ...API, key: setting.key };
    const budgetOptions = { utilization: 0.9 };
    const ledger = withKey(emptyLedger(), fingerprintOf(setting.key), start);
    const rateLimiter = new RateLimiter(budgetOptions, { clock, ledger });
    const nothing = (): void => undefined;
    const api = createApi(options, {
      budget: rateLimiter,
      transport: transportOf(this.service, this.network, wire),
      clock,
      random: () => 0.5,
      observer: {
        requested: nothing,
        failed: nothing,
        took: nothing,
        invalidRecords: (endpoint, count) => {
          this.invalid[endpoint] = (this.invalid[endpoint] ?? 0) + count;
        },
      },
    });
    const viewOptions = { budgetOptions, routeOf: (source: Source) => routeOf(options, source) };
    this.rateLimiter = rateLimiter;
    this.scheduler = new ViewedScheduler(sources, new Map(), {
      api,
      clock,
      log: jsonLogger('error'),
      store: { save: async () => undefined },
      budgetView: () => budgetViewOf(rateLimiter.ledger, viewOptions, clock.now()),
      limits: () => limitsOf(rateLimiter.ledger),
      limitsKnown: () => rateLimiter.ledger.key.standing !== 'unknown',
      onPlan: nothing,
      onWait: nothing,
      onChange: nothing,
    });
    this.#run = this.scheduler.run(this.#abort.signal);
  }

  view(id: string): SourceView {
    const view = this.scheduler.views().find(({ source }) => sourceId(source) === id);
    if (!view) throw new TypeError(`no source ${id}`);
    return view;
  }

  async stop(): Promise<void> {
    this.#abort.abort(new Error('stopping'));
    await this.#run;
  }
}
