import type { Scrape } from '../scrape.ts';
import { seriesNamed } from '../scrape.ts';
import type { Sent, TrafficEvent } from '../traffic.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { following } from './following.ts';
import { Steps } from './steps.ts';
import { isRevocation } from './waits.ts';

const REASONS: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
};

/** Why a request failed, as far as the world knows. A body that is not the good one may be readable all the same. */
function reasonOf({ head, failure }: Sent): string | undefined {
  if (failure !== undefined) return failure;
  if (!head || head.status === 200) return undefined;
  if (head.status === 429) {
    return isRevocation(head.headers) ? 'revoked' : 'rate_limited';
  }
  return head.status >= 500 ? 'server_error' : (REASONS[head.status] ?? 'unexpected_status');
}

/** How often something happened in all processes, by its labels. */
type Truth = Map<string, number>;

function add(truth: Truth, labels: string): void {
  truth.set(labels, (truth.get(labels) ?? 0) + 1);
}

/** What a process shows of a counter, compared with what has happened in it. */
interface Compared {
  readonly process: number;
  /** The count with which it began is at least this: what it shows, minus all that has happened in it. */
  readonly least: Map<string, number>;
  readonly first: Map<string, number>;
}

/**
 * The exporter's own counters of requests and failures never say more than what happened, and within a process they are
 * exact: there is one count with which the process began that explains all that it shows. What has not been shown yet may
 * still have to be written.
 */
export function ownCounts(): Check {
  const truths = { requests: new Map<string, number>(), failures: new Map<string, number>() };
  const inProcess = new Map<number, { requests: Truth; failures: Truth; invalid: number }>();
  const compared = { requests: new Map<string, Compared>(), failures: new Map<string, Compared>() };

  const own = (process: number) => {
    const known = inProcess.get(process) ?? { requests: new Map(), failures: new Map(), invalid: 0 };
    inProcess.set(process, known);
    return known;
  };

  function happened(event: TrafficEvent): undefined {
    if (event.kind === 'sent') {
      const labels = `endpoint="${event.sent.endpoint}"`;
      add(truths.requests, labels);
      add(own(event.sent.process).requests, labels);
    }
    if (event.kind === 'end') {
      const reason = reasonOf(event.sent);
      if (reason === undefined || reason === 'aborted') return;
      const labels = `endpoint="${event.sent.endpoint}",reason="${reason}"`;
      add(truths.failures, labels);
      add(own(event.sent.process).failures, labels);
    }
  }

  function compare(scrape: Scrape, world: World, what: 'requests' | 'failures', name: string): string | undefined {
    const before = compared[what].get(scrape.host);
    const here: Compared =
      before?.process === scrape.process ? before : { process: scrape.process, least: new Map(), first: new Map() };
    compared[what].set(scrape.host, here);
    for (const [labels, shown] of seriesNamed(scrape, name)) {
      // Whether a spoilt body is readable is not for the world to say.
      if (labels.includes('invalid_body')) continue;
      if (shown > (truths[what].get(labels) ?? 0))
        return `${name}{${labels}} is ${shown}, was ${truths[what].get(labels)}`;
      // The replicas share the counters, and each shows those of the leader.
      if (world.exporter.replicas > 0) continue;
      const least = shown - (own(scrape.process)[what].get(labels) ?? 0);
      here.first.set(labels, Math.min(here.first.get(labels) ?? shown, shown));
      here.least.set(labels, Math.max(here.least.get(labels) ?? least, least));
      const [most, needed] = [here.first.get(labels) ?? 0, here.least.get(labels) ?? 0];
      if (needed > most) return `${name}{${labels}} is ${shown}, ${needed - most} more than happened`;
    }
    return undefined;
  }

  /** What happened before the last rendering is shown at the end. */
  function missing(scrape: Scrape, world: World, what: 'requests' | 'failures', name: string): string | undefined {
    const here = compared[what].get(scrape.host);
    if (!here || world.exporter.replicas > 0) return undefined;
    const late = lateIn(world, scrape);
    for (const [labels, needed] of here.least) {
      if (labels.includes('invalid_body')) continue;
      const shown = scrape.series.get(`${name}{${labels}}`);
      const expected = needed + (own(scrape.process)[what].get(labels) ?? 0) - late;
      if (shown !== undefined && shown < expected)
        return `${name}{${labels}} is ${shown}, at least ${expected} happened`;
    }
    return undefined;
  }

  function lateIn({ traffic, exporter }: World, { at }: Scrape): number {
    return traffic.since(at - 2 * exporter.refreshMs - 1_000).length;
  }

  const follower = following('own counters: requests and failures are those that happened', happened);
  return {
    ...follower,
    onScrape(scrape, world) {
      follower.onMoment(world);
      return (
        compare(scrape, world, 'requests', 'beaconchain_api_requests_total') ??
        compare(scrape, world, 'failures', 'beaconchain_api_request_failures_total')
      );
    },
    atEnd(world, scrapes) {
      return scrapes
        .map(
          (scrape) =>
            missing(scrape, world, 'requests', 'beaconchain_api_requests_total') ??
            missing(scrape, world, 'failures', 'beaconchain_api_request_failures_total'),
        )
        .find((wrong) => wrong !== undefined);
    },
  };
}

const TIMES = ['last_attempt', 'last_success'].map((what) => `beaconchain_source_${what}_timestamp_seconds`);

/** The times of polls are not in the future and do not step back, unless the clock was set. */
export function ownTimes(): Check {
  const steps = new Steps();
  let hasStepped = false;
  const last = new Map<string, number>();
  let losses = 0;
  const follower = following('own counters: times of polls', (event) => {
    steps.note(event);
    hasStepped ||= event.kind === 'step' && event.byMs !== 0;
    return undefined;
  });
  return {
    ...follower,
    onScrape(scrape, world) {
      follower.onMoment(world);
      // Replicas go by the clock of their Redis.
      if (hasStepped || world.exporter.replicas > 0) return undefined;
      // A process that starts without its state knows of no poll.
      const { losses: lost } = world.host(scrape.host);
      if (lost !== losses) last.clear();
      losses = lost;
      for (const name of TIMES) {
        for (const [labels, value] of seriesNamed(scrape, name)) {
          if (value * 1_000 > scrape.ownAt) return `${name}{${labels}} is in the future`;
          const id = `${name} ${labels}`;
          const before = last.get(id) ?? 0;
          if (value < before) return `${name}{${labels}} was ${before}, is ${value}`;
          last.set(id, value);
        }
      }
      return undefined;
    },
  };
}
