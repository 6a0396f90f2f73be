import type { Endpoint } from '../../../src/api/errors.ts';
import type { WireRequest } from '../../../src/api/transport.ts';
import { Bucket, type Counted, type LimitedWindow } from './limits.ts';
import type { Plan, ServiceSetting } from './setting.ts';

/** Callers without a valid key are counted apart. */
const ANONYMOUS_PLAN: Plan = { perSecond: 2 };

/** The account of the user: its key, its plan and its counters. The fields without `readonly` may be set. */
export class Account {
  key: string;
  plan: Plan;
  /** The trial expired or the subscription was cancelled. */
  isRevoked = false;
  /** Endpoints that the plan does not include. */
  readonly forbidden = new Set<Endpoint>();
  readonly #setting: Pick<ServiceSetting, 'buckets' | 'month' | 'clockAheadMs'>;
  readonly #buckets = new Map<string, Bucket>();
  readonly #anonymous: Bucket;

  constructor(setting: ServiceSetting) {
    this.key = setting.key;
    this.plan = setting.plan;
    this.#setting = setting;
    this.#anonymous = new Bucket('default', 'calendar');
    if (!setting.members) this.forbidden.add('sync_committee_members');
  }

  /** What counts a request, and its limits. */
  counterOf(request: WireRequest, isKeyValid: boolean): { bucket: Bucket; plan: Plan } {
    if (!isKeyValid) return { bucket: this.#anonymous, plan: ANONYMOUS_PLAN };
    return { bucket: this.#bucket(this.#nameOf(request)), plan: this.plan };
  }

  /** The time by the clock of the service, by which windows begin and end. */
  timeAt(now: number): number {
    return now + this.#setting.clockAheadMs;
  }

  isKeyOf({ headers, path }: WireRequest): boolean {
    const given = path.startsWith('/api/v1/') ? headers['apikey'] : headers['authorization']?.replace(/^Bearer /, '');
    return given === this.key;
  }

  /** Requests of other consumers, in each bucket that is in use. */
  spend(requests: number, now: number): void {
    if (this.#setting.buckets === 'one') this.#bucket('default');
    for (const bucket of this.#buckets.values()) bucket.spend(requests, this.timeAt(now));
  }

  renew(): void {
    for (const bucket of this.#buckets.values()) bucket.renew();
  }

  /** What the current windows of each bucket have counted. */
  counted(now: number): Map<string, Record<LimitedWindow, Counted>> {
    return new Map([...this.#buckets].map(([name, bucket]) => [name, bucket.counted(this.timeAt(now))]));
  }

  #bucket(name: string): Bucket {
    const bucket = this.#buckets.get(name) ?? new Bucket(name, this.#setting.month);
    this.#buckets.set(name, bucket);
    return bucket;
  }

  #nameOf({ endpoint, base, path }: WireRequest): string {
    const { buckets } = this.#setting;
    if (buckets === 'endpoint') return endpoint;
    if (buckets === 'version') return path.startsWith('/api/v1/') ? 'default' : 'oldsubnewapi';
    return buckets === 'host' ? new URL(base).host : 'default';
  }
}
