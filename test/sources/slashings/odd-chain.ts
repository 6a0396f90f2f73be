import type { ApiRequest } from '../../../src/api/client.ts';
import { failed } from '../../support/fake-api.ts';
import type { LivelyChain } from '../../support/lively-chain.ts';
import { askedFor, epochRows, type Fields } from '../../support/slot-rows.ts';

/** What is wrong with the answers to one poll. */
export interface Odd {
  /** How many epochs `latest` and `finalized` are off. */
  readonly latest?: number;
  readonly finalized?: number;
  /** The answer to a request for an epoch by number. */
  readonly number?: 'the epoch before' | 'its rows under this name' | 'no rows' | 'a refusal';
}

/** The answer for an epoch that the chain has not reached. */
export type Beyond = 'a refusal' | 'scheduled rows';

/** A lively chain behind v1 endpoints that give the odd answers of the test. */
export class OddChain {
  /** The slashings whose records were sent while their block was canonical. */
  readonly told = new Set<number>();
  readonly #chain: LivelyChain;
  readonly #beyond: Beyond;

  constructor(chain: LivelyChain, beyond: Beyond) {
    this.#chain = chain;
    this.#beyond = beyond;
  }

  answer(request: ApiRequest, odd: Odd | undefined): unknown {
    const asked = askedFor(request.path);
    const isSlot = asked.startsWith('slot/');
    return { status: 'OK', data: isSlot ? this.#records(Number(asked.slice(5))) : this.#rows(request, asked, odd) };
  }

  #records(slot: number): Fields[] {
    const records = this.#chain.records(slot);
    for (const n of this.#chain.canonicalIn(slot)) this.told.add(n);
    return records;
  }

  #rows(request: ApiRequest, name: string, odd: Odd | undefined): Fields[] {
    const { latest, finalized } = this.#chain;
    if (name === 'latest') return this.#view(latest + (odd?.latest ?? 0));
    if (name === 'finalized') return this.#view(finalized + (odd?.finalized ?? 0));
    const epoch = Number(name);
    switch (odd?.number) {
      case 'the epoch before':
        return this.#chain.rows(epoch - 1) ?? [];
      case 'its rows under this name':
        return (this.#chain.rows(epoch - 1) ?? []).map((row) => ({ ...row, epoch }));
      case 'no rows':
        return [];
      case 'a refusal':
        throw failed(request, 'bad_request');
      default:
    }
    const rows = this.#chain.rows(epoch);
    if (rows) return rows;
    if (this.#beyond === 'a refusal') throw failed(request, 'bad_request');
    return epochRows(epoch).map((row) => ({ ...row, status: '0' }));
  }

  /** Makes up the rows of an epoch that does not exist, so that the answer itself looks right. */
  #view(epoch: number): Fields[] {
    return this.#chain.rows(epoch) ?? epochRows(epoch);
  }
}
