import { CHAINS, EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SECONDS_PER_EPOCH } from '../../src/lib/chain.ts';
import { SECONDS_PER_DAY } from '../../src/lib/duration.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../support/timing.ts';
import { drawEvents } from './events/index.ts';
import { drawExporter, USUAL } from './exporter-setting.ts';
import { Random } from './random.ts';
import { drawNetwork, NO_FAULTS } from './service/network.ts';
import { calmSetting, drawService } from './service/setting.ts';
import { drawSteady } from './steady.ts';
import type { Setting, Story, StoryEvent } from './story.ts';

/** About so many requests are sent in a short story. */
const REQUESTS = 200;
const MAX_LENGTH = DAY;
const EVENTS_PER_DAY = 3;
/** The share of the stories in which only the limits decide. Some checks need a world without disturbances. */
const STEADY = 0.2;

/**
 * The story of a seed, so short that a thousand of them are run in minutes. With `days` it is a long one of the usual
 * world: one chain, ten machines, the default configuration and a plan that is large enough.
 */
export function drawStory(seed: number, days?: number): Story {
  const random = new Random(seed, 'story');
  const steady = random.fork('steady');
  if (days === undefined && steady.happens(STEADY)) return withRefresh({ seed, ...drawSteady(steady, seed) });
  const drawn = days === undefined ? drawSetting(random) : usual(seed);
  const { start, early } = startOf(random.fork('start'));
  const lengthMs = days === undefined ? lengthOf(drawn, start, random.fork('length')) : days * DAY;
  const few = random.pick([random.between(0, 8), random.between(5, 25)]);
  const count = days === undefined ? few : Math.ceil(EVENTS_PER_DAY * days);
  const events = drawEvents(random.fork('events'), drawn, count, lengthMs);
  const all = [...early.filter(({ at }) => at < lengthMs), ...events].toSorted((a, b) => a.at - b.at);
  return withRefresh({ seed, start, lengthMs, setting: drawn, events: all });
}

/** What the program renders each second would take most of the time. */
function withRefresh(story: Story): Story {
  const { setting, lengthMs } = story;
  const refreshMs = Math.max(1_000, Math.min(10 * MINUTE, Math.round(lengthMs / 100)));
  return { ...story, setting: { ...setting, exporter: { ...setting.exporter, refreshMs } } };
}

function drawSetting(random: Random): Setting {
  return {
    service: drawService(random.fork('service')),
    network: drawNetwork(random.fork('network')),
    exporter: drawExporter(random.fork('exporter')),
  };
}

function usual(seed: number): Setting {
  const machines = Array.from({ length: 10 }, (_, i) => `m${i}`);
  return {
    service: calmSetting({ seed, machines, liveliness: 0.01 }),
    network: { latency: { low: 50, high: 300 }, faults: NO_FAULTS },
    exporter: USUAL,
  };
}

function lengthOf(setting: Setting, start: number, random: Random): number {
  const length = ((REQUESTS * DAY) / requestsPerDay(setting, start)) * (0.3 + random.unit());
  // Each replica asks Redis twice a second.
  const longest = setting.exporter.replicas > 0 ? 12 * MINUTE : MAX_LENGTH;
  return Math.round(Math.min(length, longest));
}

function requestsPerDay({ service, exporter }: Setting, start: number): number {
  const { intervals, chains, utilization } = exporter;
  const sweeps = (DAY / 1_000 / intervals.machines) * Math.ceil(1 + service.machines.length / 9);
  const extra = 450 + (exporter.proposerNames ? 700 : 0) + 1_000 * service.liveliness;
  const wanted = sweeps + chains.length * (DAY / 1_000 / intervals.slashings + extra);
  // Buckets of their own have quotas of their own.
  const quotas = service.buckets === 'one' ? 1 : 4;
  const { perSecond, perMonth = Number.POSITIVE_INFINITY } = service.plan;
  const days = service.month === 'calendar' ? (endOfMonth(start) - start) / DAY : 30;
  return Math.min(wanted, perSecond * utilization * 86_400, (quotas * perMonth * utilization) / days);
}

/** A time that a story begins at, and what happens soon. */
interface Beginning {
  readonly start: number;
  readonly early: readonly StoryEvent[];
}

/** Any time; as often shortly before a month or a year ends, or a day of daily returns or a sync committee is due. */
function startOf(random: Random): Beginning {
  const month = random.between(0, 23);
  const [day, hour] = [random.between(1, 28), random.between(0, 23)];
  const any = Date.UTC(2026, month, day, hour, random.between(0, 59), random.between(0, 59));
  const early = random.happens(0.5);
  return random.pick<() => Beginning>([
    () => ({ start: any, early: [] }),
    () => ({ start: endOfMonth(any) - Math.round(random.scale(1, 48 * 3_600)) * SECOND, early: [] }),
    () => beforeNews(endOfDay(any), random, early ? olderDay(random) : undefined),
    () => (early && random.happens(0.5) ? periodTakenBack(endOfPeriod(any), random) : nearPeriod(any, early, random)),
  ])();
}

/** Shortly before something is due, or so that it is due while the first events happen. */
function beforeNews(due: number, random: Random, event: StoryEvent | undefined): Beginning {
  return { start: due - Math.round(random.scale(10, 2 * 3_600)) * SECOND, early: event ? [event] : [] };
}

function nearPeriod(any: number, early: boolean, random: Random): Beginning {
  return beforeNews(endOfPeriod(any), random, early ? latePeriod(random) : undefined);
}

/** A node that does not know the new sync committee yet is asked for it after another one that does. */
function periodTakenBack(due: number, random: Random): Beginning {
  const late = { lateMs: 2 * HOUR, ms: DAY };
  const asked = 8 * MINUTE + Math.round(random.scale(SECOND, 3 * MINUTE));
  return {
    start: due - MINUTE,
    early: [
      { at: 7.5 * MINUTE, kind: 'period late', what: late },
      // The last poll seems to be in the future, so the next one comes at once.
      { at: asked, kind: 'clock', what: { host: 'a', offsetMs: -5 * MINUTE } },
    ],
  };
}

function olderDay(random: Random): StoryEvent {
  return { at: 0, kind: 'older day', what: { ms: random.scale(HOUR, 24 * HOUR) } };
}

function latePeriod(random: Random): StoryEvent {
  return { at: 0, kind: 'period late', what: { lateMs: random.scale(6 * MINUTE, 2 * HOUR), ms: DAY } };
}

/** When polls for the day begin that ends next on mainnet. */
function endOfDay(at: number): number {
  const { genesis } = CHAINS.mainnet;
  const days = Math.ceil((at / SECOND - genesis) / SECONDS_PER_DAY);
  return (genesis + days * SECONDS_PER_DAY) * SECOND + 20 * MINUTE;
}

/** When the sync committee of mainnet changes next. */
function endOfPeriod(at: number): number {
  const { genesis } = CHAINS.mainnet;
  const seconds = EPOCHS_PER_SYNC_COMMITTEE_PERIOD * SECONDS_PER_EPOCH;
  return (genesis + Math.ceil((at / SECOND - genesis) / seconds) * seconds) * SECOND;
}

function endOfMonth(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
