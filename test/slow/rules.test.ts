import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Case, complaintsOf } from '../rules/cases.ts';

const FOLDER = 'deploy/prometheus';
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.test.yaml'));
/** Labels of a scrape configuration that has names of ours. A `group` there has a case of its own. */
const TARGET = ['machine', 'process', 'source', 'chain', 'validator'];
/** Of the process, not of what replicas share. */
const OF_PROCESS =
  /Beaconchain(?:ExporterDown|ReplicaDown|NoLeader|SourceStale|ClockWrong|StateWriteFailing|ConfigReloadFailed|Watchdog)/;

describe('rules, in other set-ups', () => {
  it.each(FILES)(
    'fire and are silent where the scrape configuration has labels of the same names: %s',
    async (name) => {
      await play(name, renamed);
    },
  );

  // Where series are 10 minutes apart, nobody leads between two samples.
  it.each(FILES.filter((name) => !name.includes('week')))(
    'fire once for two replicas of each exporter: %s',
    async (name) => {
      await play(name, replicated);
    },
  );
});

async function play(name: string, change: (one: Case) => Case): Promise<void> {
  const complaints = await complaintsOf(join(FOLDER, name), (cases) =>
    cases
      // Some cases are about these set-ups.
      .filter((one) => !/replica|NoLeader|scrape configuration/.test(one.name))
      .map((one) => change({ ...one, promql_expr_test: countsIn(one), alert_rule_test: [] })),
  );
  expect(complaints).toBe('');
}

/** How many fire of each name: their other labels are those of the set-up. */
function countsIn({ promql_expr_test: checks }: Case): Case['promql_expr_test'] {
  return checks.filter(({ expr }) => expr.startsWith('count by (alertname) (ALERTS{'));
}

/** The rules of an operator make it, not a scrape. */
function isThreshold({ series }: { readonly series: string }): boolean {
  return series.startsWith('beaconchain:');
}

/** What Prometheus makes of our labels where the target has those names, and honor_labels is not true. */
function renamed(one: Case): Case {
  const input_series = one.input_series.map(({ series, values }) => {
    if (isThreshold({ series })) return { series, values };
    const [, metric, own = ''] = series.match(/^(\w+)\{(.*)\}$/) ?? [];
    const labels = own.replaceAll(/\b(\w+)=/g, (all, label) => (TARGET.includes(label) ? `exported_${label}=` : all));
    return { series: `${metric}{${[labels, ...TARGET.map((label) => `${label}="home"`)].join(', ')}}`, values };
  });
  return { ...one, input_series };
}

/** Each exporter is two replicas, the first of which leads, and both show the same. */
function replicated(one: Case): Case {
  const ofExporters = one.input_series.filter(
    ({ series }) => series.startsWith('beaconchain_') && !series.includes('_leader{'),
  );
  const jobs = new Map<string, string>();
  const input_series = ofExporters.flatMap(({ series, values }) =>
    ['leader', 'follower'].map((role) => {
      const instance = series.match(/instance="([^"]*)"/)?.[1] ?? '';
      const job = `j-${instance}`;
      jobs.set(job, instance);
      const ofReplica = series
        .replace(/job="[^"]*"/, `job="${job}"`)
        .replace(/instance="[^"]*"/, `instance="${instance}-${role}"`);
      return { series: ofReplica, values };
    }),
  );
  const leaders = [...jobs].flatMap(([job, instance]) =>
    ['leader', 'follower'].map((role) => ({
      series: `beaconchain_exporter_leader{job="${job}", instance="${instance}-${role}"}`,
      values: `${role === 'leader' ? 1 : 0}x40000`,
    })),
  );
  const promql_expr_test = one.promql_expr_test.map(({ expr, ...check }) => ({
    ...check,
    expr: expr.replace('{', `{instance=~"j.*", alertname!~"${OF_PROCESS.source.replace('?:', '')}", `),
    exp_samples: check.exp_samples.filter(({ labels }) => !OF_PROCESS.test(labels)),
  }));
  const thresholds = one.input_series.filter(isThreshold);
  return { ...one, input_series: [...thresholds, ...input_series, ...leaders], promql_expr_test };
}
