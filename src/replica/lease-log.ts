import type { Logger } from '../lib/log.ts';
import type { LeaseStatus } from './lease.ts';

/** Logs who leads instead of this replica, once per change. */
export class LeaseLog {
  readonly #log: Logger;
  #last = '';

  constructor(log: Logger) {
    this.#log = log;
  }

  tell(status: LeaseStatus, value: string): void {
    const news = `${status === 'newer'} ${value}`;
    if (news === this.#last) return;
    this.#last = news;
    const [, leader] = value.split(' ');
    if (status === 'other' && leader) this.#log.info({ leader }, 'following');
    else if (status === 'other')
      this.#log.warn('the lease in Redis was not written by a replica: waiting until it expires');
    else if (status === 'newer') this.#log.warn('the state was written by a newer version: not leading');
  }
}
