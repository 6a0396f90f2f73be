import { DAY } from '../support/timing.ts';
import type { ExporterSetting } from './exporter-setting.ts';
import type { NetworkSetting } from './service/network.ts';
import type { ServiceSetting } from './service/setting.ts';

/**
 * Everything that is decided before a run: the world, and what happens to it. It is plain data, so that it can be
 * printed, and shortened while it still fails.
 */
export interface Story {
  /** The finer choices, such as the latency of a request, come from it too. */
  readonly seed: number;
  /** Unix ms. */
  readonly start: number;
  /** How long there is trouble, ms. A calm follows, in which everything must become right again. */
  readonly lengthMs: number;
  readonly setting: Setting;
  /** In order of time. */
  readonly events: readonly StoryEvent[];
}

/** A long story is scraped so seldom that its program renders only for a scrape: the rest would take most of the time. */
export function isLong({ lengthMs }: Pick<Story, 'lengthMs'>): boolean {
  return lengthMs > DAY;
}

/** The world as it is before anything happens. Plain data. */
export interface Setting {
  readonly service: ServiceSetting;
  readonly network: NetworkSetting;
  readonly exporter: ExporterSetting;
}

export interface StoryEvent {
  /** ms after the start. */
  readonly at: number;
  readonly kind: string;
  /** Plain data, whose shape depends on the kind. */
  readonly what: Readonly<Record<string, unknown>>;
}
