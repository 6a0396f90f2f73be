import type { WireRequest } from '../../../src/api/transport.ts';
import { CHAIN_NAMES, type Chain } from '../../../src/lib/chain.ts';
import { v1Error, v2Error } from '../../../src/sandbox/refusal.ts';
import type { Random } from '../random.ts';
import { Account } from './account.ts';
import { type ChainAnswer, ChainView } from './chain-view.ts';
import { Disturbances } from './disturbances.ts';
import { revokedHeaders, sentHeaders } from './limits.ts';
import { machinesBody } from './machine-pages.ts';
import { Machines } from './machines.ts';
import { Periods } from './periods.ts';
import { type Exchange, Records } from './record.ts';
import type { ServiceSetting } from './setting.ts';
import { WorldChain } from './world-chain.ts';

/** Who sent a request, and when (true Unix ms). */
export interface Sender {
  readonly process: string;
  readonly sentAt: number;
}

/** An answer on its way. */
export interface Served {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly exchange: Exchange;
  /** What the answer says of the chain. */
  readonly chainAnswer?: ChainAnswer | undefined;
}

interface Content {
  readonly status: number;
  readonly body: string;
  readonly chainAnswer?: ChainAnswer;
}

/** In the body of a page that another one follows. */
const CURSOR = /"next_cursor":"[^"]/;
const JSON_TYPE = { 'content-type': 'application/json' };

/**
 * The API of the simulation: a synchronous state machine that depends only on its setting, the seed, the requests and the
 * orders. Its parts take orders, and know what is true. `now` is the true time, Unix ms.
 */
export class Service {
  readonly account: Account;
  readonly machines: Machines;
  readonly periods: Periods;
  readonly disturbances = new Disturbances();
  readonly records = new Records();
  /** Told of every answer when it is made. */
  onServed: (served: Served, request: WireRequest, now: number) => void = () => undefined;
  #afterPage: (() => void) | undefined;
  #afterRequests = { left: 0, act: (): void => undefined };
  readonly #chains: Readonly<Record<Chain, ChainView>>;
  #setting: ServiceSetting;

  constructor(setting: ServiceSetting, random: Random, start: number) {
    this.#setting = setting;
    this.account = new Account(setting);
    this.machines = new Machines(setting);
    this.periods = new Periods(setting, random.fork('odd days'));
    const view = (name: Chain, i: number): ChainView => {
      const { seed, liveliness, odd } = setting;
      return new ChainView(
        new WorldChain(name, { seed: seed + i, liveliness }, start),
        odd,
        random.fork(`odd ${name}`),
      );
    };
    this.#chains = { mainnet: view('mainnet', 0), hoodi: view('hoodi', 1) };
  }

  get setting(): ServiceSetting {
    return this.#setting;
  }

  /** A chain at this time, with its orders. */
  chain(name: Chain, now: number): ChainView {
    const view = this.#chains[name];
    view.chain.moveTo(now);
    return view;
  }

  /** Another path, other views. */
  change(changes: Partial<Pick<ServiceSetting, 'dailyReturnsPath' | 'views' | 'headers'>>): void {
    this.#setting = { ...this.#setting, ...changes };
  }

  /** Calls `act` after the next page that another one follows. */
  oncePaged(act: () => void): void {
    this.#afterPage = act;
  }

  /** Calls `act` when the request with this number from now on, counted from 1, is being answered. */
  onRequest(number: number, act: () => void): void {
    this.#afterRequests = { left: number, act };
  }

  /** Counts a request and answers it. */
  handle(request: WireRequest, now: number, { process, sentAt }: Sender = { process: '', sentAt: now }): Served {
    const chain: Chain = request.base.includes('hoodi') ? 'hoodi' : 'mainnet';
    const made = this.#answer(request, chain, now);
    const { status, headers, body, bucket, refusedBy, isWhole = true, chainAnswer } = made;
    const { endpoint } = request;
    const sent = { process, endpoint, chain, sentAt, countedAt: now };
    const pushes = endpoint === 'machine_metrics' && status === 200 && isWhole ? this.machines.lastPage : [];
    const exchange: Exchange = { ...sent, status, bucket, refusedBy, isWhole, pushes, deliveredAt: undefined };
    this.records.add(exchange, request);
    const date = new Date(now).toUTCString();
    const served: Served = { status, headers: { date, ...headers }, body, exchange, chainAnswer };
    this.onServed(served, request, now);
    this.#afterRequests.left -= 1;
    if (this.#afterRequests.left === 0) this.#afterRequests.act();
    if (status === 200 && CURSOR.test(body)) {
      this.#afterPage?.();
      this.#afterPage = undefined;
    }
    return served;
  }

  /** The whole answer has reached the process. */
  delivered({ exchange, chainAnswer }: Served, at: number): void {
    this.records.delivered(exchange, chainAnswer, at);
  }

  /** Ends every disturbance: from now on everything can become right again. */
  calm(now: number): void {
    this.disturbances.calm();
    this.periods.calm();
    this.machines.spoil(0, now);
    this.machines.delay({ of: 'none', ms: 0 }, now);
    this.machines.emptyPages(0);
    for (const name of CHAIN_NAMES) {
      const view = this.chain(name, now);
      view.calm();
      view.chain.calm();
    }
    this.account.isRevoked = false;
    this.account.key = this.#setting.key;
    this.account.plan = { perSecond: 10 };
    this.account.renew();
    // The basic headers do not tell that a limit of the hour or month is gone.
    if (this.#setting.headers.sent === 'basic')
      this.change({ headers: { ...this.#setting.headers, sent: 'extended' } });
    this.change({ views: { latest: true, finalized: true, committee: true } });
  }

  #answer(
    request: WireRequest,
    chain: Chain,
    now: number,
  ): Content & Partial<Exchange> & { headers: Record<string, string> } {
    const inFront = this.disturbances.inFront(now);
    if (inFront) return { ...inFront, ...(inFront.status === 429 ? { refusedBy: 'nowhere' } : {}) };
    const { account } = this;
    const isKeyValid = account.isKeyOf(request);
    const serviceNow = account.timeAt(now);
    const { bucket, plan } = account.counterOf(request, isKeyValid);
    const common = { 'ratelimit-bucket': bucket.name, 'ratelimit-validapikey': String(isKeyValid) };
    const withHeaders = (all: Record<string, string>): Record<string, string> => ({
      ...JSON_TYPE,
      ...sentHeaders(this.#setting.headers, { ...common, ...all }),
    });
    if (isKeyValid && account.isRevoked) {
      const headers = { ...JSON_TYPE, ...sentHeaders(this.#setting.headers, common), ...revokedHeaders(serviceNow) };
      return { status: 429, headers, body: v2Error(429), refusedBy: 'revoked' };
    }
    const charge = bucket.charge(plan, serviceNow);
    const headers = withHeaders(charge.headers);
    const counted = { headers, ...(isKeyValid ? { bucket: bucket.name } : {}) };
    if (charge.refusedBy) {
      bucket.refund();
      return { status: 429, ...counted, body: v2Error(429), refusedBy: charge.refusedBy };
    }
    if (!isKeyValid) return { status: 401, ...counted, body: v2Error(401) };
    const failing = this.disturbances.failing(request, now);
    if (failing) {
      bucket.refund();
      return { ...failing, ...counted, headers: { ...headers, ...failing.headers } };
    }
    const content = this.#contentOf(request, chain, now);
    if (content.status !== 200) return { ...content, ...counted };
    return { ...content, ...counted, ...this.disturbances.sent(request.endpoint, content.body) };
  }

  #contentOf({ endpoint, path, body = '' }: WireRequest, chain: Chain, now: number): Content {
    if (this.account.forbidden.has(endpoint)) return { status: 403, body: v2Error(403) };
    if (path.startsWith('/api/v1/')) return this.#v1(path, chain, now);
    const text = this.#v2(path, body, now);
    if (typeof text === 'number') return { status: text, body: v2Error(text) };
    return text === undefined ? { status: 400, body: v2Error(400) } : { status: 200, body: text };
  }

  /** The body; undefined for a bad request. */
  #v2(path: string, body: string, now: number): string | 404 | undefined {
    if (path === '/api/v2/machine-metrics') return machinesBody(this.machines, this.#setting, body, now);
    if (path === '/api/v2/ethereum/sync-committee') return this.periods.periodBody(body, this.#setting.views, now);
    const isDays = path === `/api/v2/ethereum/${this.#setting.dailyReturnsPath}`;
    return isDays ? this.periods.daysBody(body, now) : 404;
  }

  #v1(path: string, chain: Chain, now: number): Content {
    const [, what = '', selector = '', part = ''] = /^\/api\/v1\/(\w+)\/(\w+)(?:\/(\w+))?$/.exec(path) ?? [];
    if (what === 'sync_committee') {
      const text = this.periods.committeeBody(chain, selector, now);
      return text === undefined ? BAD_V1 : { status: 200, body: text };
    }
    const answer = this.#chainAnswer(what, selector, part, this.chain(chain, now), now);
    if (!answer) return BAD_V1;
    return { status: 200, body: `{"status":"OK","data":${answer.list}}`, chainAnswer: answer };
  }

  #chainAnswer(what: string, selector: string, part: string, view: ChainView, now: number): ChainAnswer | undefined {
    const { latest, finalized } = this.#setting.views;
    if ((selector === 'latest' && !latest) || (selector === 'finalized' && !finalized)) return undefined;
    if (what === 'epoch' && part === 'slots') return view.rows(view.epochOf(selector, now), now);
    const slot = Number(selector);
    if (what !== 'slot' || !Number.isInteger(slot)) return undefined;
    return part === 'proposerslashings' ? view.proposerRecords(slot) : view.records(slot, now);
  }
}

const BAD_V1: Content = { status: 400, body: v1Error('invalid epoch parameter') };
