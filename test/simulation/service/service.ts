import type { WireRequest } from '../../../src/api/transport.ts';
import { CHAIN_NAMES, type Chain } from '../../../src/facts/chain.ts';
import type { Fleet } from '../../../src/sandbox/machines.ts';
import { refusalOf } from '../../support/answers/known-request.ts';
import type { Counted } from '../traffic.ts';
import { Account } from './account.ts';
import { type ChainAnswer, ChainView } from './chain-view.ts';
import { Disturbances } from './disturbances.ts';
import { revokedHeaders, sentHeaders } from './limits.ts';
import { fleetOf, machinesContent, type Push } from './machines.ts';
import { Periods } from './periods.ts';
import type { ServiceSetting } from './setting.ts';
import { WorldChain } from './world-chain.ts';

/** An answer on its way. */
export interface Served {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly counted: Omit<Counted, 'at'>;
  /** The whole answer has reached the process. */
  readonly onDelivered: () => void;
}

interface Content {
  readonly status: number;
  readonly body: string;
  readonly pushes?: readonly Push[];
  readonly chainAnswer?: ChainAnswer;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const REFUSED = '{"error":"refused"}';
const BAD_V1: Content = { status: 400, body: '{"status":"ERROR: invalid epoch parameter","data":null}' };

/**
 * The API of the simulation: a synchronous state machine that depends only on its setting, the seed, the requests and the
 * orders. Its parts take orders, and know what is true. `now` is the true time, Unix ms.
 */
export class Service {
  readonly account: Account;
  readonly machines: Fleet;
  readonly periods: Periods;
  readonly disturbances = new Disturbances();
  readonly #chains: Readonly<Record<Chain, ChainView>>;
  setting: ServiceSetting;

  constructor(setting: ServiceSetting, start: number) {
    this.setting = setting;
    this.account = new Account(setting);
    this.machines = fleetOf(setting);
    this.periods = new Periods(setting);
    const { seed, liveliness } = setting;
    const view = (name: Chain, i: number): ChainView =>
      new ChainView(new WorldChain(name, { seed: seed + i, liveliness }, start));
    this.#chains = { mainnet: view('mainnet', 0), hoodi: view('hoodi', 1) };
  }

  /** A chain at this time, with its orders. */
  chain(name: Chain, now: number): ChainView {
    const view = this.#chains[name];
    view.chain.moveTo(now);
    return view;
  }

  change(changes: Partial<Pick<ServiceSetting, 'views' | 'headers'>>): void {
    this.setting = { ...this.setting, ...changes };
  }

  /** Counts a request and answers it. */
  handle(request: WireRequest, now: number): Served {
    const served = this.#answer(request, now);
    return { ...served, headers: { date: new Date(now).toUTCString(), ...served.headers } };
  }

  /** Ends every disturbance: from now on everything can become right again. */
  calm(now: number): void {
    this.disturbances.calm();
    this.periods.calm();
    for (const name of CHAIN_NAMES) this.chain(name, now).calm();
    this.account.isRevoked = false;
    this.account.plan = { perSecond: 10 };
    this.account.renew();
    this.change({ views: { latest: true, finalized: true, committee: true } });
    // The basic headers do not show that a limit of the hour or month is gone.
    if (this.setting.headers.sent === 'basic') this.change({ headers: { ...this.setting.headers, sent: 'extended' } });
  }

  #answer(request: WireRequest, now: number): Served {
    const uncounted = { bucket: undefined, refusedBy: undefined, pushes: [] };
    const nothing = (): void => undefined;
    const inFront = this.disturbances.inFront(now);
    if (inFront) {
      const refusedBy = inFront.status === 429 ? 'nowhere' : undefined;
      return { ...inFront, counted: { ...uncounted, refusedBy }, onDelivered: nothing };
    }
    const { account } = this;
    const { bucket, plan, isKeyValid } = account.counterOf(request);
    const common = { 'ratelimit-bucket': bucket.name, 'ratelimit-validapikey': String(isKeyValid) };
    const withHeaders = (all: Record<string, string>): Record<string, string> => ({
      ...JSON_TYPE,
      ...sentHeaders(this.setting.headers, { ...common, ...all }),
    });
    if (isKeyValid && account.isRevoked) {
      const headers = { ...withHeaders({}), ...revokedHeaders(account.timeAt(now)) };
      const counted = { ...uncounted, refusedBy: 'revoked' as const };
      return { status: 429, headers, body: REFUSED, counted, onDelivered: nothing };
    }
    const charge = bucket.charge(plan, account.timeAt(now));
    const headers = withHeaders(charge.headers);
    const counted = { ...uncounted, refusedBy: charge.refusedBy, bucket: isKeyValid ? bucket.name : undefined };
    const refused = (status: number): Served => ({ status, headers, body: REFUSED, counted, onDelivered: nothing });
    if (charge.refusedBy) {
      bucket.refund();
      return refused(429);
    }
    if (!isKeyValid) return refused(401);
    const unknown = refusalOf(request);
    if (unknown) return refused(unknown.status);
    const failing = this.disturbances.failing(request, now);
    if (failing) {
      bucket.refund();
      return { ...failing, headers: { ...headers, ...failing.headers }, counted, onDelivered: nothing };
    }
    return this.#served(request, now, headers, counted);
  }

  /** A good answer, unless its body is spoilt on the way. */
  #served(request: WireRequest, now: number, headers: Record<string, string>, counted: Served['counted']): Served {
    const chain: Chain = request.base.includes('hoodi') ? 'hoodi' : 'mainnet';
    const { status, body: text, pushes = [], chainAnswer } = this.#content(request, chain, now);
    if (status !== 200) return { status, headers, body: text, counted, onDelivered: () => undefined };
    const { body, isWhole } = this.disturbances.sent(request.endpoint, text);
    const onDelivered = (): void => {
      if (isWhole) chainAnswer?.onDelivered();
    };
    return { status, headers, body, counted: { ...counted, pushes: isWhole ? pushes : [] }, onDelivered };
  }

  #content({ path, body = '' }: WireRequest, chain: Chain, now: number): Content {
    if (path.startsWith('/api/v1/')) return this.#v1(path, chain, now);
    if (path.startsWith('/api/v2/machine-metrics')) return machinesContent(this.machines, path, body, now);
    const text =
      path === '/api/v2/ethereum/sync-committee'
        ? this.periods.periodBody(body, this.setting.views, now)
        : this.periods.daysBody(body, now);
    const isKnown = path.endsWith('/sync-committee') || path === '/api/v2/ethereum/benchmark-store';
    if (!isKnown) return { status: 404, body: REFUSED };
    return text === undefined ? { status: 400, body: REFUSED } : { status: 200, body: text };
  }

  #v1(path: string, chain: Chain, now: number): Content {
    const [, selector = '', list] = /^\/api\/v1\/\w+\/(\w+)\/(\w+)$/.exec(path) ?? [];
    const { latest, finalized } = this.setting.views;
    if ((selector === 'latest' && !latest) || (selector === 'finalized' && !finalized)) return BAD_V1;
    const view = this.chain(chain, now);
    const offence = list === 'proposerslashings' ? 'proposer' : 'attester';
    const answer =
      list === 'slots' ? view.rows(view.epochOf(selector, now), now) : view.records(offence, Number(selector), now);
    if (!answer) return BAD_V1;
    return { status: 200, body: `{"status":"OK","data":${answer.list}}`, chainAnswer: answer };
  }
}
