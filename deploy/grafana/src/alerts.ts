import { BAD, named, POOR } from './look.ts';
import { table } from './panels/table.ts';

const ABOUT = ['group', 'machine', 'process', 'validator', 'layer', 'source', 'endpoint', 'bucket', 'window'];

/** When each began, in milliseconds: when its condition was first met, or when Prometheus last started. */
function firing(subjects: string, labels: readonly string[], more: string): string {
  const matchers = `severity=~"critical|warning", subject=~"${subjects}"${more && `, ${more}`}`;
  const since = `1000 * ALERTS_FOR_STATE{${matchers}} and ignoring (alertstate) ALERTS{alertstate="firing", ${matchers}}`;
  const about = `label_join((${since}), "about", " ", ${labels.map((label) => `"${label}"`).join(', ')})`;
  // Every name has the prefix, and the column is narrow.
  const named = `label_replace(${about}, "alertname", "$1", "alertname", "Beaconchain(.+)")`;
  return `min by (severity, alertname, about, chain) (${named})`;
}

/**
 * Only the alerts of this exporter have the label subject. Alerts on an exporter name it, because there can be several.
 */
function allFiring(more: string): string {
  return `${firing('machine|chain|returns', ABOUT, more)} or ${firingOfExporters(more)}`;
}

function firingOfExporters(more: string): string {
  return firing('exporter', [...ABOUT, 'instance'], more);
}

const FIRING = {
  all: allFiring,
  machine: (more: string): string => firing('machine', ABOUT, more),
  exporter: firingOfExporters,
} as const;

interface FiringOptions {
  /** All, unless given. */
  readonly subject?: 'machine' | 'exporter';
  /** Further matchers. */
  readonly more?: string;
  readonly height?: number;
}

/** The alerts that fire, critical ones on top. */
export function firingAlerts({ subject, more = '', height = 8 }: FiringOptions = {}): ReturnType<typeof table> {
  return table({
    title: 'Firing alerts',
    description:
      'Critical and warning alerts. Also empty if the alert rules are not loaded. Notifications link the runbook, which says what to do.',
    span: 12,
    height,
    labels: {
      severity: {
        name: 'Severity',
        width: 80,
        mappings: named({ critical: { text: 'critical', color: BAD }, warning: { text: 'warning', color: POOR } }),
      },
      alertname: { name: 'Alert', width: 190 },
      about: { name: 'About', width: 145 },
      chain: { name: 'Chain', width: 80 },
    },
    values: [[FIRING[subject ?? 'all'](more), { name: 'Since', unit: 'dateTimeFromNow', width: 100 }]],
    sortBy: 'Severity',
    ascending: true,
    noValue: 'No alert fires',
  });
}
