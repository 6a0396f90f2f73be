import { drawEvents } from './events/index.ts';
import { drawExporter } from './exporter-setting.ts';
import { Random } from './random.ts';
import { drawNetwork } from './service/network.ts';
import { drawService } from './service/setting.ts';
import type { Setting, Story } from './story.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** About so many requests are sent in a short story. */
const REQUESTS = 400;
const MAX_LENGTH = 5 * DAY;

/** The story of a seed. `days`: its length; default: so short that a thousand of them are run in minutes. */
export function drawStory(seed: number, days?: number): Story {
  const random = new Random(seed, 'story');
  const setting: Setting = {
    service: drawService(random.fork('service')),
    network: drawNetwork(random.fork('network')),
    exporter: drawExporter(random.fork('exporter')),
  };
  const drawn = Math.round(((REQUESTS * DAY) / requestsPerDay(setting)) * (0.3 + random.unit()));
  // Each replica asks Redis twice a second.
  const longest = setting.exporter.replicas > 0 ? 20 * MINUTE : MAX_LENGTH;
  const lengthMs = days === undefined ? Math.min(drawn, longest) : days * DAY;
  // What the program renders each second would take most of the time.
  const refreshMs = lengthMs < HOUR && random.happens(0.1) ? 1_000 : 20_000;
  const count = random.pick([0, 3, random.between(1, 12), random.between(5, 25)]);
  const long = { ...setting, exporter: { ...setting.exporter, refreshMs } };
  return {
    seed,
    start: startOf(random.fork('start')),
    lengthMs,
    setting: long,
    events: drawEvents(random.fork('events'), long, count, lengthMs),
  };
}

function requestsPerDay({ service, exporter }: Setting): number {
  const { intervals, chains, utilization } = exporter;
  const sweeps = (DAY / 1_000 / intervals.machines) * Math.ceil(1 + service.machines.length / 9);
  const wanted = sweeps + chains.length * (DAY / 1_000 / intervals.slashings + 450);
  const { perSecond, perMonth = Number.POSITIVE_INFINITY } = service.plan;
  return Math.min(wanted, perSecond * utilization * 86_400, (perMonth * utilization) / 30);
}

/** Any time; as often shortly before a month or a year ends. */
function startOf(random: Random): number {
  const month = random.between(0, 23);
  const day = random.pick([random.between(1, 28), 27, 28]);
  return Date.UTC(2026, month, day, random.between(0, 23), random.between(0, 59), random.between(0, 59));
}
