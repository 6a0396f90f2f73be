import type { ApiRequest } from '../../../src/api/client.ts';
import { unit } from '../../../src/lib/random.ts';
import { v1Body } from '../../../src/sandbox/v1.ts';
import type { Sandbox } from '../../../src/sandbox/world.ts';

/** Who else asks the service for the same: nobody, or somebody at about every moment. */
export type Neighbours = 'none' | 'many';

/** v1 answers are kept for about a minute (api-facts 5.1). */
export const ABOUT_A_MINUTE_MS = 60_000;
/** From our sending a request to the moment whose state the answer shows, at most. */
const MAX_WAY_MS = 400;

/** Until one of many neighbours asks for what is not kept any more, at most. */
const MAX_PAUSE_MS = 10_000;

export interface Cache {
  readonly neighbours: Neighbours;
  /** How long an answer is kept; 0: not at all. */
  readonly keptMs: number;
}

interface Kept {
  readonly filledAt: number;
  readonly body: unknown;
}

/** The simulated v1 endpoints behind a cache, which the requests of others keep filled too. */
export class CachingService {
  readonly #sandbox: Sandbox;
  readonly #cache: Cache;
  readonly #seed: number;
  readonly #kept = new Map<string, Kept>();
  #draws = 0;
  /** Paths of our requests. */
  readonly paths: string[] = [];

  constructor(sandbox: Sandbox, cache: Cache, seed: number) {
    this.#sandbox = sandbox;
    this.#cache = cache;
    this.#seed = seed;
  }

  /** What is answered to a request that we send at `now` (Unix ms). */
  answer({ path }: Pick<ApiRequest, 'path'>, now: number): unknown {
    this.paths.push(path);
    const at = now + MAX_WAY_MS * this.#random();
    const kept = this.#keptAt(path, at);
    if (kept) return kept.body;
    const fresh = this.#read(path, at);
    this.#kept.set(path, fresh);
    return fresh.body;
  }

  #keptAt(path: string, at: number): Kept | undefined {
    const kept = this.#kept.get(path);
    const filledAt = this.#filledByOthers(path, kept, at) ?? kept?.filledAt;
    if (filledAt === undefined || at >= filledAt + this.#cache.keptMs) return undefined;
    const current = filledAt === kept?.filledAt ? kept : this.#read(path, filledAt);
    this.#kept.set(path, current);
    return current;
  }

  /** When somebody else last asked for what was not kept any more. */
  #filledByOthers(path: string, kept: Kept | undefined, at: number): number | undefined {
    // The slashings of a slot are of interest to nobody before they are known.
    const { neighbours, keptMs } = this.#cache;
    if (neighbours === 'none' || path.includes('/slot/')) return undefined;
    let filledAt = kept?.filledAt ?? at - keptMs * this.#random();
    for (;;) {
      const next = filledAt + keptMs + MAX_PAUSE_MS * this.#random();
      if (next > at) return filledAt;
      filledAt = next;
    }
  }

  #random(): number {
    this.#draws += 1;
    return unit(this.#seed, this.#draws);
  }

  #read(path: string, filledAt: number): Kept {
    const body = v1Body(this.#sandbox, 'mainnet', path, filledAt);
    return { filledAt, body: JSON.parse(body ?? 'null') };
  }
}
