import type { ExporterSetting } from './exporter-setting.ts';
import type { NetworkSetting } from './service/network.ts';
import type { ServiceSetting } from './service/setting.ts';

/**
 * Everything that is decided before a run: the world, and what happens to it. It is plain data, so that it can be
 * printed.
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
  readonly what: object;
}

/** What must always hold and did not. */
export interface Failure {
  /** Names what was checked. Two failures of one check are the same failure. */
  readonly check: string;
  readonly message: string;
  /** ms after the start of the story. */
  readonly at: number;
}
