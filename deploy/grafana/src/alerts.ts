import { BAD, named, POOR } from './look.ts';
import { table } from './panels/table.ts';

/** The alerts of rules.yaml, and nobody else's, have the label subject. */
const OURS = 'severity=~"critical|warning", subject=~"machine|chain|returns|exporter"';

/** What it is about, in one column. */
function about(expr: string): string {
  return `label_join(${expr}, "about", " ", "machine", "process", "validator", "source", "endpoint", "bucket")`;
}

/** When each began, in milliseconds. Prometheus keeps the time at which the condition was first met. */
function firing(more: string): string {
  const matchers = `${OURS}${more && `, ${more}`}`;
  const since = `1000 * ALERTS_FOR_STATE{${matchers}} and ignoring (alertstate) ALERTS{alertstate="firing", ${matchers}}`;
  return `min by (severity, alertname, about, chain) (${about(`(${since})`)})`;
}

/** The alerts that fire, critical ones on top. `more` are further matchers. */
export function firingAlerts(more = '', height = 8): ReturnType<typeof table> {
  return table({
    title: 'Firing alerts',
    description:
      'Critical and warning alerts. Also empty if the alert rules are not loaded. Each alert links to its runbook, which explains what to do.',
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
    values: [[firing(more), { name: 'Since', unit: 'dateTimeFromNow', width: 100 }]],
    sortBy: 'Severity',
    ascending: true,
    noValue: 'None fires',
  });
}
