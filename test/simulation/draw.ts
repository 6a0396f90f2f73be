import { CHAINS, EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SECONDS_PER_EPOCH } from '../../src/facts/chain.ts';
import { calendarMonth } from '../../src/sandbox/account.ts';
import { DAY, MINUTE, SECOND } from '../support/time/timing.ts';
import { drawEvents } from './events/index.ts';
import { drawExporter, type ExporterSetting } from './exporter-setting.ts';
import { Random } from './random.ts';
import { drawNetwork } from './service/network.ts';
import { drawService, type ServiceSetting } from './service/setting.ts';
import type { Story } from './story.ts';

/** About how many requests a story sends. */
const REQUESTS = 200;

/** The story of a seed, so short that a thousand of them are run in minutes. */
export function drawStory(seed: number): Story {
  const random = new Random(seed, 'story');
  const service = drawService(random.fork('service'));
  const exporter = drawExporter(random.fork('exporter'));
  const turn = random.fork('turn');
  const start = startOf(turn);
  const mean = (REQUESTS * DAY) / requestsPerDay(service, exporter, start);
  const lengthMs = Math.round(Math.min(DAY, mean * (0.3 + random.unit())));
  // What the program renders each second would take most of the time of a long story.
  const refreshMs = Math.max(SECOND, Math.min(10 * MINUTE, Math.round(lengthMs / 100)));
  const setting = { service, network: drawNetwork(random.fork('network')), exporter: { ...exporter, refreshMs } };
  const count = random.pick([random.between(0, 8), random.between(5, 25)]);
  return { seed, start, lengthMs, setting, events: drawEvents(random.fork('events'), setting, count, lengthMs) };
}

function requestsPerDay(service: ServiceSetting, exporter: ExporterSetting, start: number): number {
  const { intervals, chains, utilization } = exporter;
  const sweeps = (DAY / SECOND / intervals.machines) * Math.ceil(1 + service.machines.length / 9);
  const wanted = sweeps + chains.length * (DAY / SECOND / intervals.slashings + 450 + 1_000 * service.liveliness);
  // Buckets of their own have quotas of their own.
  const quotas = service.buckets === 'one' ? 1 : 4;
  const { perSecond, perMonth = Number.POSITIVE_INFINITY } = service.plan;
  const days = service.month === 'calendar' ? (calendarMonth(start).until - start) / DAY : 30;
  return Math.min(wanted, perSecond * utilization * 86_400, (quotas * perMonth * utilization) / days);
}

/** Any time; as often some time before a month or a year ends, or a day of daily returns or a sync committee is due. */
function startOf(random: Random): number {
  const any = Date.UTC(2026, random.between(0, 23), random.between(1, 28), 0, 0, random.between(0, 86_399));
  const day = turnAfter(any, DAY) + 20 * MINUTE;
  const period = turnAfter(any, EPOCHS_PER_SYNC_COMMITTEE_PERIOD * SECONDS_PER_EPOCH * SECOND);
  return random.pick([any, calendarMonth(any).until, day, period]) - random.scale(10, 12 * 3_600) * SECOND;
}

/** When the next such span of mainnet begins. */
function turnAfter(at: number, spanMs: number): number {
  const genesis = SECOND * CHAINS.mainnet.genesis;
  return genesis + Math.ceil((at - genesis) / spanMs) * spanMs;
}
