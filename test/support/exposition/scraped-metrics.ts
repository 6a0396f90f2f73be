import { sourcesOf } from '../../../src/sources/registry.ts';
import { defaultConfig } from '../runs/default-config.ts';
import type { ReadSample } from './exposition-parser.ts';
import { seriesOf } from './exposition-text.ts';

/** The sources of an empty config file. */
export const SOURCES = sourcesOf(defaultConfig()).map(({ name }) => name);

/** One scrape of /metrics. */
export class Metrics {
  readonly text: string;
  readonly series: readonly ReadSample[];

  constructor(text: string) {
    this.text = text;
    this.series = seriesOf(text);
  }

  of(name: string): readonly ReadSample[] {
    return this.series.filter((series) => series.name === name);
  }

  /** The value of one source, or the sum over all. */
  value(name: string, source?: string): number {
    return this.of(name)
      .filter(({ labels }) => source === undefined || labels['source'] === source)
      .reduce((sum, { value }) => sum + value, 0);
  }

  /** The series that the exporter withdraws when they are too old: values of machines and of the head. */
  withdrawable(): readonly ReadSample[] {
    return this.series.filter(
      ({ name }) =>
        name.startsWith('beaconchain_head_') ||
        (name.startsWith('beaconchain_machine_') && !name.endsWith('last_seen_timestamp_seconds')),
    );
  }

  /** Whether every source succeeds and shows its values. */
  isWell(): boolean {
    const shown = ['beaconchain_machine_cpu_cores', 'beaconchain_head_slot', 'beaconchain_daily_return_day'];
    return (
      SOURCES.every((source) => this.value('beaconchain_source_up', source) === 1) &&
      shown.every((name) => this.of(name).length > 0)
    );
  }

  /** The reasons for failed requests, of one endpoint or of all. */
  reasons(endpoint?: string): string[] {
    const failures = this.of('beaconchain_api_request_failures_total');
    const own = failures.filter(
      ({ labels, value }) => value > 0 && (endpoint === undefined || labels['endpoint'] === endpoint),
    );
    return [...new Set(own.map(({ labels }) => labels['reason'] ?? ''))];
  }

  invalidRecords(endpoint: string): number {
    return (
      this.of('beaconchain_api_invalid_records_total').find(({ labels }) => labels['endpoint'] === endpoint)?.value ?? 0
    );
  }
}
