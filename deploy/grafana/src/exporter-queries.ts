/** With a label `name`, for legends: the chain where there is one. Grafana would show the name of a missing label. */
export function withName(expr: string): string {
  return `label_join(${expr}, "name", " ", "source", "chain")`;
}

/** Metrics that every process has, of exporters alone. */
export function ofExporter(metric: string): string {
  return `max by (instance) (${metric} and on (job, instance) last_over_time(beaconchain_exporter_build_info[1d]))`;
}

/** As the alert BeaconchainExporterDown, but for a job that has lost its last target. */
export const UP =
  'min by (instance) (up and on (job, instance) last_over_time(beaconchain_exporter_build_info[7d]) or up{job=~".*beaconchain.*"})';

export function ofSource(expr: string): string {
  return `max by (source, chain) (${expr})`;
}

/** Share of a window that is left. Minute and day are no real windows, nor is an hour that repeats the month. */
export const QUOTA_LEFT = `min by (bucket, window) (beaconchain_ratelimit_remaining{window=~"hour|month"} / (beaconchain_ratelimit_limit{window=~"hour|month"} > 0) unless on (job, instance, bucket, window) (beaconchain_ratelimit_limit{window="hour"} == ignoring (window) group_left () beaconchain_ratelimit_limit{window="month"}))`;

function ofMonth(metric: string): string {
  return `beaconchain_ratelimit_${metric}{window="month"}`;
}

export const MONTH_LEFT = `max by (bucket) (${ofMonth('remaining')})`;
export const MONTH_USED_BY_OTHERS = `max by (bucket) (${ofMonth('used_by_others')})`;
export const MONTH_USED_HERE = `max by (bucket) (${ofMonth('limit')} - ${ofMonth('remaining')} - ${ofMonth('used_by_others')})`;
