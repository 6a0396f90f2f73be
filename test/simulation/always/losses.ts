import type { World } from '../world.ts';

/** Tells when what a host shows may step back, because the state was lost outside of the program. */
export class Losses {
  readonly #known = new Map<string, number>();

  /** Whether a host may show less than it did when this was last asked. Documents in Redis may reach a host late. */
  mayStepBack(host: string, { redis, hosts }: World): boolean {
    const losses = hosts.find(({ name }) => name === host)?.losses ?? 0;
    const isNew = losses !== (this.#known.get(host) ?? 0);
    this.#known.set(host, losses);
    return isNew || (redis?.record.losses ?? 0) > 0;
  }
}
