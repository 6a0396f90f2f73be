import type { Check } from '../always/check.ts';
import { following } from '../always/following.ts';
import { isRevocation, namedWaitMs } from '../always/waits.ts';
import type { Sent, TrafficEvent } from '../traffic.ts';
import type { World } from '../world.ts';

/** Detects the rare states that can be read from the traffic. It finds nothing wrong. */
export function rareTraffic(): Check {
  const seen = new Seen();
  return following('rare states: traffic', (event, world) => {
    seen.note(event, world);
    return undefined;
  });
}

class Seen {
  /** True time at which the last wait after a 429 ends. */
  #closed: { readonly from: number; readonly until: number } | undefined;
  #isBlind = false;
  #isRevoked = false;
  readonly #refusedKeys = new Set<string>();
  readonly #counted = new Set<Sent>();
  readonly #lastOf = new Map<string, Sent>();
  #loweredAt = Number.POSITIVE_INFINITY;
  #perSecond: number | undefined;
  #reloadedAt = Number.POSITIVE_INFINITY;
  #last: Sent | undefined;

  note(event: TrafficEvent, world: World): void {
    if (event.kind === 'sent') this.#sent(event.sent, world);
    if (event.kind === 'counted') this.#wasCounted(event, world);
    if (event.kind === 'head') this.#head(event.sent, world);
    if (event.kind === 'end') this.#end(event.sent, world);
    if (event.kind === 'plan') this.#plan(event.at, world);
    if (event.kind === 'renewal' && this.#isClosed(event.at)) world.reach('a renewal while closed');
    if (event.kind === 'reload') this.#reloadedAt = event.at;
    if (event.kind === 'start') this.#start(event.at, world);
    if (event.kind === 'ended') this.#ended(event, world);
    if (event.kind === 'step') this.#step(event, world);
  }

  #sent(sent: Sent, world: World): void {
    const before = this.#lastOf.get(`${sent.process} ${sent.source}`);
    if (hasCursor(sent) && before) {
      if (before.at < this.#loweredAt && this.#loweredAt <= sent.at)
        world.reach('a limit lowered in the middle of a sweep');
      if (before.at < this.#reloadedAt && this.#reloadedAt <= sent.at) world.reach('a reload in the middle of a sweep');
    }
    if (this.#last && this.#last.key !== sent.key) {
      if (this.#isRevoked) world.reach('key changed while revoked');
      this.#isRevoked = false;
      this.#closed = undefined;
    }
    this.#lastOf.set(`${sent.process} ${sent.source}`, sent);
    this.#last = sent;
  }

  #wasCounted({ sent, exchange }: Extract<TrafficEvent, { kind: 'counted' }>, world: World): void {
    this.#counted.add(sent);
    if (sent.failure === 'timeout') world.reach('an answer after the time limit');
    if (!hasCursor(sent)) return;
    if (exchange.refusedBy === 'month') world.reach('a quota exhausted in the middle of a sweep');
    if (exchange.refusedBy === 'revoked') world.reach('revoked in the middle of a sweep');
  }

  #head(sent: Sent, world: World): void {
    if (!sent.head) return;
    const { status, headers, at } = sent.head;
    this.#counted.delete(sent);
    if (status === 401) this.#refusedKeys.add(sent.key);
    if (status === 200 && this.#refusedKeys.delete(sent.key)) world.reach('a refused key accepted again');
    if (status !== 429) {
      if (status === 200) this.#isRevoked = false;
      this.#isBlind = false;
      return;
    }
    if (isRevocation(headers)) {
      this.#isRevoked = true;
      return;
    }
    const named = namedWaitMs(headers, at);
    if (named !== undefined && headers['ratelimit-reset'] === undefined)
      world.reach('a wait named only by retry-after');
    if (named === undefined && this.#isBlind) world.reach('two refusals in a row that name no wait');
    this.#isBlind = named === undefined;
    this.#closed = { from: at, until: at + (named ?? 60_000) };
  }

  #end(sent: Sent, world: World): void {
    const wasCounted = this.#counted.delete(sent);
    if (wasCounted && !sent.head && sent.failure !== undefined) world.reach('a request counted without an answer');
    if (sent.head?.status === 200 && sent.failure === 'network') world.reach('a body cut off');
  }

  #plan(at: number, { service }: World): void {
    const { perSecond } = service.account.plan;
    if (perSecond < (this.#perSecond ?? service.setting.plan.perSecond)) this.#loweredAt = at;
    this.#perSecond = perSecond;
  }

  #start(at: number, world: World): void {
    if (this.#isClosed(at)) world.reach('a restart while closed');
    if (this.#isRevoked) world.reach('a restart while revoked');
    if (this.#last && at - this.#last.at < 1_000) world.reach('a restart within a second of a request');
  }

  #ended({ process, why }: Extract<TrafficEvent, { kind: 'ended' }>, world: World): void {
    const isCounted = [...this.#counted].some((sent) => sent.process === process);
    if (isCounted && why !== 'stopped') world.reach('killed between request counted and ledger written');
    this.#counted.clear();
  }

  #step({ at, byMs }: Extract<TrafficEvent, { kind: 'step' }>, world: World): void {
    if (!this.#closed || !this.#isClosed(at)) return;
    if (at + byMs < this.#closed.from) world.reach('clock stepped back across a wait');
    if (at + byMs > this.#closed.until) world.reach('clock stepped forward across a wait');
  }

  #isClosed(at: number): boolean {
    return this.#closed !== undefined && at < this.#closed.until;
  }
}

function hasCursor({ endpoint, request: { body = '' } }: Sent): boolean {
  return endpoint === 'machine_metrics' && /"cursor":"[^"]/.test(body);
}
