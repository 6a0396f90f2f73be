import type { WireRequest } from '../../../src/api/transport.ts';
import { CHAIN_NAMES, type Chain, epochAt } from '../../../src/lib/chain.ts';
import { MINUTE } from '../../support/timing.ts';
import type { Served, Service } from '../service/service.ts';
import type { RareState } from '../sometimes.ts';

/** Finality is two epochs behind the head at least; ten more take over an hour. */
const LATE_EPOCHS = 12;
const OUTAGE_MS = 10 * MINUTE;
const EPOCHS_PER_PERIOD = 256;

/** What was answered about one chain. */
interface Told {
  latest: number;
  day: number;
  /** The roots of the blocks with each slashing whose details were answered. */
  readonly roots: Map<number, Set<string>>;
  /** Canonical blocks whose details were answered before they were final. */
  readonly open: { readonly epoch: number; readonly root: string }[];
  readonly asked: Set<string>;
  reorganisations: number;
}

/** Notices rare states in what the service answers about chains, days and machines. */
export class AnswerWatch {
  readonly #service: Service;
  readonly #reach: (state: RareState) => void;
  readonly #told: Readonly<Record<Chain, Told>> = { mainnet: nothing(), hoodi: nothing() };
  #answeredAt = Number.POSITIVE_INFINITY;

  readonly #hasBoth: () => boolean;

  /** `hasBoth`: both chains are configured. A chain that nobody reads is not simulated. */
  constructor(service: Service, hasBoth: () => boolean, reach: (state: RareState) => void) {
    this.#service = service;
    this.#hasBoth = hasBoth;
    this.#reach = reach;
  }

  see(served: Served, request: WireRequest, now: number): void {
    if (served.status !== 200) return;
    if (this.#hasBoth()) this.#seeReorganisations(now);
    const { endpoint } = request;
    const { body } = served;
    if (endpoint === 'epoch_slots') this.#seeEpoch(served, request, now);
    else if (endpoint === 'attester_slashings') this.#seeDetails(served, request, now);
    else if (endpoint === 'daily_returns') this.#seeDay(body, chainIn(request));
    else if (
      endpoint === 'machine_metrics' &&
      body.startsWith('{"data":{"system_metrics":[]},"paging":{"next_cursor":"[')
    )
      this.#reach('an empty page with a cursor');
    else if (endpoint === 'sync_committee') {
      const period = Number(/"period":(\d+)/.exec(body)?.[1]);
      const due = Math.floor(epochAt(chainIn(request), now - 5 * MINUTE) / EPOCHS_PER_PERIOD);
      if (period < due) this.#reach('a sync committee that is not known after its end');
    }
  }

  #seeEpoch({ exchange, chainAnswer }: Served, { path }: WireRequest, now: number): void {
    const told = this.#told[exchange.chain];
    const view = this.#service.chain(exchange.chain, now);
    const { latest, finalized } = view.chain;
    const { epoch = 0, list = '' } = chainAnswer ?? {};
    if (epoch <= finalized && list.includes('"status":"0"')) this.#reach('a scheduled slot in a finalized epoch');
    if (view.hasShownTwoProposed) this.#reach('two rows of one slot that both say proposed');
    if (latest - finalized >= LATE_EPOCHS) this.#reach('finality late for more than an hour');
    if (path.includes('/latest/')) {
      if (epoch < told.latest) this.#reach('a latest epoch taken back');
      told.latest = epoch;
    } else if (path.includes('/finalized/') && told.latest > 0 && epoch > told.latest) {
      this.#reach('a finalized epoch ahead of the latest');
    }
    for (const { epoch: open, root } of told.open)
      if (!view.chain.canonical(open).has(root)) this.#reach('a slashing taken back');
    told.open.splice(0, told.open.length, ...told.open.filter((one) => one.epoch > finalized));
  }

  #seeDetails({ exchange, chainAnswer }: Served, { path }: WireRequest, now: number): void {
    const told = this.#told[exchange.chain];
    const { chain } = this.#service.chain(exchange.chain, now);
    const slot = Number(/\/slot\/(\d+)\//.exec(path)?.[1]);
    const { epoch = 0, sent = new Map() } = chainAnswer ?? {};
    if (sent.size < chain.included(slot).size) this.#reach('a slashing not listed yet');
    const canonical = chain.canonical(epoch);
    for (const [root, slashings] of sent) {
      if (slashings.length > 0 && epoch <= chain.finalized && !told.asked.has(root))
        this.#reach('a slashing first seen at finality');
      told.asked.add(root);
      if (canonical.has(root) && epoch > chain.finalized) told.open.push({ epoch, root });
      for (const slashing of slashings) {
        const roots = told.roots.get(slashing) ?? new Set();
        told.roots.set(slashing, roots.add(root));
        if (roots.size > 1) this.#reach('a slashing in two blocks');
      }
    }
  }

  #seeDay(body: string, chain: Chain): void {
    const told = this.#told[chain];
    // An odd day is before the true one.
    const day = Number(/"day":(\d+)(?!.*"day":)/.exec(body)?.[1] ?? told.day);
    if (day < told.day) this.#reach('an earlier day after a later one');
    told.day = day;
  }

  #seeReorganisations(now: number): void {
    const counts = CHAIN_NAMES.map((name) => this.#service.chain(name, now).chain.reorganisations);
    const isNew = CHAIN_NAMES.every((name, i) => Number(counts[i]) > this.#told[name].reorganisations);
    if (isNew && now - this.#answeredAt > OUTAGE_MS) this.#reach('both chains reorganised during an outage');
    for (const [i, name] of CHAIN_NAMES.entries()) this.#told[name].reorganisations = Number(counts[i]);
    this.#answeredAt = now;
  }
}

function chainIn({ body = '' }: WireRequest): Chain {
  return body.includes('"hoodi"') ? 'hoodi' : 'mainnet';
}

function nothing(): Told {
  return { latest: 0, day: 0, roots: new Map(), open: [], asked: new Set(), reorganisations: 0 };
}
