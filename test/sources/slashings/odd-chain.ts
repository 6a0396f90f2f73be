import type { ApiRequest } from '../../../src/api/client.ts';
import { failed } from '../../support/fake-api.ts';
import type { LivelyChain } from '../../support/lively-chain.ts';
import { epochRows, type Fields } from '../../support/slot-rows.ts';

/** What is wrong with the answers of one poll. */
export interface Odd {
  /** How far the views are off, in epochs. */
  readonly latest?: number;
  readonly finalized?: number;
  /** What an epoch asked for by number is answered with. */
  readonly number?: 'the epoch before' | 'its rows under this name' | 'no rows' | 'a refusal';
}

/** How the service answers for an epoch that the chain has not reached. */
export type Beyond = 'a refusal' | 'scheduled rows';

/** The v1 endpoints over a lively chain, with answers that are odd where the test says so. */
export class OddChain {
  /** Numbers of the slashings whose records were sent for the block that was canonical then. */
  readonly told = new Set<number>();
  readonly #chain: LivelyChain;
  readonly #beyond: Beyond;

  constructor(chain: LivelyChain, beyond: Beyond) {
    this.#chain = chain;
    this.#beyond = beyond;
  }

  answer(request: ApiRequest, odd: Odd | undefined): unknown {
    const [, , , kind, name = ''] = request.path.split('/');
    return { status: 'OK', data: kind === 'slot' ? this.#records(Number(name)) : this.#rows(request, name, odd) };
  }

  #records(slot: number): Fields[] {
    const records = this.#chain.records(slot);
    const canonical = this.#chain.canonical(Math.floor(slot / 32));
    for (const { block_root: root } of records) for (const n of canonical.get(String(root)) ?? []) this.told.add(n);
    return records;
  }

  #rows(request: ApiRequest, name: string, odd: Odd | undefined): Fields[] {
    const { latest, finalized } = this.#chain;
    if (name === 'latest') return this.#view(latest + (odd?.latest ?? 0));
    if (name === 'finalized') return this.#view(finalized + (odd?.finalized ?? 0));
    const epoch = Number(name);
    switch (odd?.number) {
      case 'the epoch before':
        return this.#chain.rows(epoch - 1);
      case 'its rows under this name':
        return this.#chain.rows(epoch - 1).map((row) => ({ ...row, epoch }));
      case 'no rows':
        return [];
      case 'a refusal':
        throw failed(request, 'bad_request');
      default:
    }
    if (epoch <= latest) return this.#chain.rows(epoch);
    if (this.#beyond === 'a refusal') throw failed(request, 'bad_request');
    return epochRows(epoch).map((row) => ({ ...row, status: '0' }));
  }

  /** An epoch that does not exist is made up: nothing in the answer itself gives it away. */
  #view(epoch: number): Fields[] {
    const rows = this.#chain.rows(epoch);
    return rows.length > 0 ? rows : epochRows(epoch);
  }
}
