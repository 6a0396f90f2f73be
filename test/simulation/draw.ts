import { CHAINS, EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SECONDS_PER_EPOCH } from '../../src/lib/chain.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../support/timing.ts';
import { drawSteady } from './draw-steady.ts';
import { drawEvents } from './events/index.ts';
import { drawExporter } from './exporter-setting.ts';
import { Random } from './random.ts';
import { drawNetwork } from './service/network.ts';
import { drawService } from './service/setting.ts';
import type { Setting, Story, StoryEvent } from './story.ts';

/** About so many requests are sent in a story. */
const REQUESTS = 200;
/** The share of the stories in which only the limits decide. Some checks need a world without disturbances. */
const STEADY = 0.2;

/** The story of a seed, so short that a thousand of them are run in minutes. */
export function drawStory(seed: number): Story {
  const random = new Random(seed, 'story');
  const story = random.happens(STEADY) ? drawSteady(seed, random.fork('steady')) : drawTrouble(seed, random);
  // What the program renders each second would take most of the time of a long story.
  const refreshMs = Math.max(SECOND, Math.min(10 * MINUTE, Math.round(story.lengthMs / 100)));
  const { setting } = story;
  return { ...story, setting: { ...setting, exporter: { ...setting.exporter, refreshMs } } };
}

function drawTrouble(seed: number, random: Random): Story {
  const setting: Setting = {
    service: drawService(random.fork('service')),
    network: drawNetwork(random.fork('network')),
    exporter: drawExporter(random.fork('exporter')),
  };
  const { start, early } = startOf(random.fork('start'));
  const mean = (REQUESTS * DAY) / requestsPerDay(setting, start);
  const lengthMs = Math.round(Math.min(DAY, mean * (0.3 + random.unit())));
  const count = random.pick([random.between(0, 8), random.between(5, 25)]);
  const events = [...early, ...drawEvents(random.fork('events'), setting, count, lengthMs)];
  const inTime = events.filter(({ at }) => at < lengthMs).sort((a, b) => a.at - b.at);
  return { seed, start, lengthMs, setting, events: inTime };
}

function requestsPerDay({ service, exporter }: Setting, start: number): number {
  const { intervals, chains, utilization } = exporter;
  const sweeps = (DAY / SECOND / intervals.machines) * Math.ceil(1 + service.machines.length / 9);
  const wanted = sweeps + chains.length * (DAY / SECOND / intervals.slashings + 450 + 1_000 * service.liveliness);
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
  const any = Date.UTC(2026, random.between(0, 23), random.between(1, 28), 0, 0, random.between(0, 86_399));
  const soon = Math.round(random.scale(10, 2 * 3_600)) * SECOND;
  const olderDay = { at: 0, kind: 'older day', what: { ms: random.scale(HOUR, 24 * HOUR) } };
  const latePeriod = { at: 0, kind: 'period late', what: { lateMs: random.scale(6 * MINUTE, 2 * HOUR), ms: DAY } };
  return random.pick<() => Beginning>([
    () => ({ start: any, early: [] }),
    () => ({ start: endOfMonth(any) - Math.round(random.scale(1, 48 * 3_600)) * SECOND, early: [] }),
    () => ({ start: endOfDay(any) - soon, early: random.happens(0.5) ? [olderDay] : [] }),
    () => ({ start: endOfPeriod(any) - soon, early: random.happens(0.5) ? [latePeriod] : [] }),
    () => ({ start: endOfPeriod(any) - MINUTE, early: periodTakenBack(random) }),
  ])();
}

/** A node that does not know the new sync committee yet is asked for it after another one that does. */
function periodTakenBack(random: Random): StoryEvent[] {
  const asked = 8 * MINUTE + random.scale(SECOND, 3 * MINUTE);
  return [
    { at: 7.5 * MINUTE, kind: 'period late', what: { lateMs: 2 * HOUR, ms: DAY } },
    // The last poll seems to be in the future, so the next one comes at once.
    { at: asked, kind: 'clock', what: { byMs: -5 * MINUTE, forMs: HOUR } },
  ];
}

/** When polls for the day begin that ends next on mainnet. */
function endOfDay(at: number): number {
  const start = SECOND * CHAINS.mainnet.genesis;
  return start + Math.ceil((at - start) / DAY) * DAY + 20 * MINUTE;
}

/** When the sync committee of mainnet changes next. */
function endOfPeriod(at: number): number {
  const start = SECOND * CHAINS.mainnet.genesis;
  const period = SECOND * EPOCHS_PER_SYNC_COMMITTEE_PERIOD * SECONDS_PER_EPOCH;
  return start + Math.ceil((at - start) / period) * period;
}

function endOfMonth(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
