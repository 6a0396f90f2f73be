import type { FailureReason } from '../../src/api/errors.ts';
import type { Family } from '../../src/metrics/family.ts';
import type { ObservedSlashing } from '../../src/sources/slashings/count.ts';
import { slashingsSource } from '../../src/sources/slashings/index.ts';
import type { SlashingsOptions } from '../../src/sources/slashings/options.ts';
import type { Proposal, Slashings } from '../../src/sources/slashings/schema.ts';
import type { Source, Timing } from '../../src/sources/source.ts';
import { failed, fakeApi } from './fake-api.ts';
import { sampleValue } from './samples.ts';
import { slashingsOptions } from './slashings-options.ts';
import { FakeChain } from './slot-rows.ts';
import { attempts, MINUTE, NOW, noSignal, timing } from './timing.ts';

/** The slashings source that follows a made-up chain, and loses everything but its state between polls. */
export class Follower {
  readonly chain = new FakeChain();
  readonly sightings: ObservedSlashing[] = [];
  readonly missed: Proposal[] = [];
  /** Why proposer slashings were counted without names. */
  readonly unnamed: Error[] = [];
  readonly source: Source<Slashings>;
  state: Slashings;
  now = NOW;
  /** Of the last poll. */
  failure: Error | undefined;
  /** What was asked for in the last poll: `latest`, `finalized`, an epoch, `slot/N`, or `slot/N/proposerslashings`. */
  asked: string[] = [];
  /** Why a request of this kind fails; undefined: it does not. */
  fault: (what: string) => FailureReason | undefined = () => undefined;

  constructor(options: Partial<SlashingsOptions> = {}) {
    const onSlashing = (sighting: ObservedSlashing): unknown => this.sightings.push(sighting);
    const onMissedProposal = (proposal: Proposal): unknown => this.missed.push(proposal);
    const onUnnamed = (failure: Error): unknown => this.unnamed.push(failure);
    this.source = slashingsSource(slashingsOptions({ onSlashing, onMissedProposal, onUnnamed, ...options }));
    this.state = this.source.empty;
  }

  /** Lets `afterMs` pass and polls. Returns what was asked for. */
  async poll(afterMs = MINUTE, overrides: Partial<Timing> = {}): Promise<string[]> {
    this.now += afterMs;
    this.asked = [];
    const api = fakeApi((request) => {
      const what = request.path.replace(/^\/api\/v1\/(epoch\/)?/, '').replace(/\/(slots|attesterslashings)$/, '');
      this.asked.push(what);
      const reason = this.fault(what);
      if (reason) throw failed(request, reason);
      return this.chain.answer(request);
    });
    const { value, failure } = await this.source.poll(api, this.state, this.timing(overrides), noSignal());
    this.state = this.source.state.parse(JSON.parse(JSON.stringify(value)));
    this.failure = failure;
    return this.asked;
  }

  /** When the next poll is due, given that the last one was at `now`. */
  due(overrides: Partial<Timing> = {}): number {
    const failuresInARow = this.failure === undefined ? 0 : 1;
    return this.source.due(this.state, attempts(this.now, { failuresInARow }), this.timing(overrides));
  }

  families(overrides: Partial<Timing> = {}): Family[] {
    return this.source.families(this.state, this.timing(overrides));
  }

  /** The value of one series, without the prefix of the name. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    return sampleValue(this.families(), `beaconchain_${name}`, labels);
  }

  timing(overrides: Partial<Timing> = {}): Timing {
    return timing({ now: this.now, ...overrides });
  }
}
