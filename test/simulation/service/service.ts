import type { WireRequest } from '../../../src/api/transport.ts';
import { CHAIN_NAMES, type Chain } from '../../../src/facts/chain.ts';
import { type Account, charge, refund, renew, spend, usedOfMonth } from '../../../src/sandbox/account.ts';
import { contentOf } from '../../../src/sandbox/answer.ts';
import type { ChainWorld } from '../../../src/sandbox/chain-world.ts';
import type { Fleet } from '../../../src/sandbox/machines.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { refusalOf } from '../../support/answers/known-request.ts';
import type { Counted } from '../traffic.ts';
import { type ChainAnswer, ChainView } from './chain-view.ts';
import { Disturbances } from './disturbances.ts';
import { fleetOf, type Push, pushesOf } from './fleet.ts';
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

interface Content extends Partial<ChainAnswer> {
  readonly status: number;
  readonly body: string;
  readonly pushes?: readonly Push[];
}

const JSON_TYPE = { 'content-type': 'application/json' };
const REFUSED = '{"error":"refused"}';

/**
 * The API of the simulation: a synchronous state machine that depends only on its setting, the seed, the requests and the
 * orders. Its parts take orders, and know what is true. `now` is the true time, Unix ms.
 */
export class Service {
  readonly sandbox: Sandbox;
  readonly disturbances = new Disturbances();
  /** undefined: no story moves the chains. */
  readonly #chains: Readonly<Record<Chain, ChainView>> | undefined;
  setting: ServiceSetting;

  /** @param sandbox What it shows, chains too, in place of what is drawn from the setting. */
  constructor(setting: ServiceSetting, start: number, sandbox?: Sandbox) {
    this.setting = setting;
    const { seed, dayDelayMs, liveliness } = setting;
    const publication = { delayMs: dayDelayMs, spread: 0.5 };
    const drawn = { seed: String(seed), publication, machines: fleetOf(setting), slotsPerSlashing: Infinity };
    this.sandbox = sandbox ?? new Sandbox({ ...setting, ...drawn });
    const { mainnet, hoodi } = this.sandbox.chains;
    const view = (world: ChainWorld): ChainView => new ChainView(new WorldChain(world, liveliness, start));
    this.#chains = sandbox ? undefined : { mainnet: view(mainnet), hoodi: view(hoodi) };
  }

  /** A chain at this time, with its orders. @throws RangeError where no story moves it */
  chain(name: Chain, now: number): ChainView {
    const view = this.#chains?.[name];
    if (!view) throw new RangeError(`no story moves ${name}`);
    view.chain.moveTo(now);
    return view;
  }

  get account(): Account {
    return this.sandbox.account;
  }

  get machines(): Fleet {
    return this.sandbox.fleet;
  }

  /** The time by the clock of the service, by which windows begin and end. */
  #timeAt(now: number): number {
    return now + this.setting.clockAheadMs;
  }

  /** Requests of other users of the account. */
  spend(requests: number, now: number): void {
    spend(this.account, requests, this.#timeAt(now));
  }

  usedOfMonth(now: number): number {
    return usedOfMonth(this.account, this.#timeAt(now));
  }

  /** Counts a request and answers it. */
  handle(request: WireRequest, now: number): Served {
    const served = this.#answer(request, now);
    return { ...served, headers: { date: new Date(now).toUTCString(), ...served.headers } };
  }

  /** Ends every disturbance: from now on everything can become right again. */
  calm(now: number): void {
    const { account, disturbances, sandbox } = this;
    disturbances.calm();
    sandbox.publication.olderUntil = Number.NEGATIVE_INFINITY;
    for (const name of CHAIN_NAMES) this.chain(name, now).calm();
    account.isRevoked = false;
    account.plan = { perSecond: 10 };
    renew(account);
    this.setting = { ...this.setting, views: { latest: true, finalized: true, committee: true } };
    // The basic headers do not show that a limit of the hour or month is gone.
    if (account.headers.sent === 'basic') account.headers = { ...account.headers, sent: 'extended' };
  }

  #answer(request: WireRequest, now: number): Served {
    const nothing = (): void => undefined;
    const inFront = this.disturbances.inFront(now);
    if (inFront) {
      const refusedBy = inFront.status === 429 ? 'nowhere' : undefined;
      return { ...inFront, counted: { bucket: undefined, refusedBy, pushes: [] }, onDelivered: nothing };
    }
    const charged = charge(this.account, request, this.#timeAt(now));
    const { isKeyValid, refusedBy, bucket } = charged;
    const headers = { ...JSON_TYPE, ...charged.headers };
    const counted = { bucket: isKeyValid ? bucket : undefined, refusedBy, pushes: [] };
    const refused = (status: number): Served => ({ status, headers, body: REFUSED, counted, onDelivered: nothing });
    if (refusedBy) return refused(429);
    if (!isKeyValid) return refused(401);
    const unknown = refusalOf(request);
    if (unknown) return refused(unknown.status);
    const failing = this.disturbances.failing(request, now);
    if (failing) {
      refund(charged);
      return { ...failing, headers: { ...headers, ...failing.headers }, counted, onDelivered: nothing };
    }
    return this.#served(request, now, headers, counted);
  }

  /** A good answer, unless its body is spoilt on the way. */
  #served(request: WireRequest, now: number, headers: Record<string, string>, counted: Served['counted']): Served {
    const chain: Chain = request.base.includes('hoodi') ? 'hoodi' : 'mainnet';
    const content = this.#content(request, chain, now);
    const { status, body: text, pushes = [], onDelivered = () => undefined } = content;
    if (status !== 200) return { status, headers, body: text, counted, onDelivered };
    const { body, isWhole } = this.disturbances.sent(request.endpoint, text);
    if (!isWhole) return { status, headers, body, counted, onDelivered: () => undefined };
    return { status, headers, body, counted: { ...counted, pushes }, onDelivered };
  }

  #content(request: WireRequest, chain: Chain, now: number): Content {
    const { body = '' } = request;
    if (isViewRefused(request.path, this.setting.views)) return { status: 400, body: REFUSED };
    const view = this.#chains && this.chain(chain, now);
    const path = view?.named(request.path, now) ?? request.path;
    const content = contentOf(this.sandbox, { ...request, path, body }, chain, now);
    if (content.status !== 200) return content;
    if (path === '/api/v2/machine-metrics') return { ...content, pushes: pushesOf(content.body) };
    return { ...content, ...view?.shown(path, content.body, now) };
  }
}

/** Whether this name of an epoch or period is one that the service does not serve. */
function isViewRefused(path: string, { latest, finalized, committee }: ServiceSetting['views']): boolean {
  if (path.endsWith('/sync-committee')) return !committee;
  return (path.includes('/latest/') && !latest) || (path.includes('/finalized/') && !finalized);
}
