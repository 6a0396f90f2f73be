import type { WireRequest } from '../../../src/api/transport.ts';
import { keyOf } from '../traffic.ts';
import { Bucket } from './limits.ts';
import type { Plan, ServiceSetting } from './setting.ts';

/** Callers without a valid key are counted apart. */
const ANONYMOUS_PLAN: Plan = { perSecond: 2 };

/** The account of the user: its key, its plan and its counters. */
export class Account {
  key: string;
  plan: Plan;
  /** The trial expired or the subscription was cancelled. */
  isRevoked = false;
  readonly #setting: Pick<ServiceSetting, 'buckets' | 'month' | 'clockAheadMs'>;
  readonly #buckets = new Map<string, Bucket>();
  readonly #anonymous = new Bucket('default', 'calendar');

  constructor(setting: ServiceSetting) {
    this.key = setting.key;
    this.plan = setting.plan;
    this.#setting = setting;
  }

  /** What counts a request, and its limits. */
  counterOf(request: WireRequest): { bucket: Bucket; plan: Plan; isKeyValid: boolean } {
    const isKeyValid = keyOf(request) === this.key;
    if (!isKeyValid) return { bucket: this.#anonymous, plan: ANONYMOUS_PLAN, isKeyValid };
    return { bucket: this.#bucket(this.#nameOf(request)), plan: this.plan, isKeyValid };
  }

  /** The time by the clock of the service, by which windows begin and end. */
  timeAt(now: number): number {
    return now + this.#setting.clockAheadMs;
  }

  /** Requests of other consumers, in each bucket that is in use. */
  spend(requests: number, now: number): void {
    if (this.#setting.buckets === 'one') this.#bucket('default');
    for (const bucket of this.#buckets.values()) bucket.spend(requests, this.timeAt(now));
  }

  renew(): void {
    for (const bucket of this.#buckets.values()) bucket.renew();
  }

  /** What others and we have used of the month; of several buckets, the one that was used most. */
  usedOfMonth(now: number): number {
    return Math.max(0, ...[...this.#buckets.values()].map((bucket) => bucket.usedOfMonth(this.timeAt(now))));
  }

  #bucket(name: string): Bucket {
    const bucket = this.#buckets.get(name) ?? new Bucket(name, this.#setting.month);
    this.#buckets.set(name, bucket);
    return bucket;
  }

  #nameOf({ endpoint, path }: WireRequest): string {
    const { buckets } = this.#setting;
    if (buckets === 'endpoint') return endpoint;
    return buckets === 'version' && !path.startsWith('/api/v1/') ? 'oldsubnewapi' : 'default';
  }
}
