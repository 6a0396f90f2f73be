// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Grafana's variables.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { temporaryFolder } from './support/files.ts';
import { DASHBOARDS, interpolate } from './support/grafana.ts';
import { areMissing, PROMTOOL, runTool } from './support/tools.ts';

/** Seconds between scrapes that the dashboards are made for. */
const SCRAPES = [15, 30, 60];
/** The scrape interval that Grafana assumes until its data source says another. */
const ASSUMED = 15;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

const panels = DASHBOARDS.flatMap(({ title: dashboard, panels }) =>
  panels.map(({ title, interval, targets }) => ({
    name: `${dashboard}, ${title}`,
    step: stepOf(interval),
    exprs: targets.map(({ expr }) => expr),
  })),
);
const rated = panels.filter(({ exprs }) => exprs.some((expr) => expr.includes('$__rate_interval')));

/** The shortest step of a panel in seconds. */
function stepOf(interval: string | undefined): number {
  const [, count, unit = ''] = /^(\d+)([smh])$/.exec(interval ?? '') ?? [];
  return count === undefined ? 0 : Number(count) * (SECONDS[unit] ?? Number.NaN);
}

/** Grafana's $__rate_interval, in seconds. */
function rateWindow(step: number, scrape: number): number {
  return Math.max(Math.max(step, scrape) + scrape, 4 * scrape);
}

/** Samples inside a window, wherever it begins and a scrape being a little late. Those at its edges may not count. */
function fewestSamples(window: number, scrape: number): number {
  return Math.ceil(window / scrape) - 1;
}

describe('ranges of the dashboards', () => {
  it.each(rated)('$name: two samples for every rate, also if the data source does not say how often', ({ step }) => {
    for (const scrape of SCRAPES) {
      expect(fewestSamples(rateWindow(step, scrape), scrape)).toBeGreaterThanOrEqual(2);
      expect(fewestSamples(rateWindow(step, ASSUMED), scrape)).toBeGreaterThanOrEqual(2);
    }
  });

  it('no range is a step alone: it would not see what happens between its first sample and the one before', () => {
    const bare = panels.filter(({ exprs }) => exprs.some((expr) => expr.includes('[$__interval]')));
    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  // The samples lie half a scrape off the edges of the windows, so all versions of Prometheus give the same.
  it.skipIf(areMissing(PROMTOOL))('a slashing stands in exactly one bar, whenever it is scraped', () => {
    const panel = panels.find(({ name }) => name === 'Chain and slashings, Attester slashings');
    const [expr = ''] = panel?.exprs ?? [];
    const step = panel?.step ?? 0;
    const labels = '{chain="mainnet", kind="double_vote"}';
    const tests = SCRAPES.map((scrape) => {
      const windowed = expr
        .replaceAll('$__rate_interval', `${rateWindow(step, scrape)}s`)
        .replaceAll('$__interval', `${step}s`);
      const samples = step / scrape;
      return {
        interval: `${scrape}s`,
        input_series: [
          {
            series:
              'beaconchain_attester_slashings_total{job="a", instance="a:1", chain="mainnet", kind="double_vote"}',
            values: `0x${samples} 1x${3 * samples}`,
          },
        ],
        promql_expr_test: [0, 1, 0].map((value, i) => ({
          expr: `round(${interpolate(windowed)})`,
          eval_time: `${(i + 1) * step * 1000 + scrape * 500}ms`,
          exp_samples: [{ labels, value }],
        })),
      };
    });
    const file = join(temporaryFolder(), 'bars.yaml');
    writeFileSync(file, stringify({ evaluation_interval: '1m', tests }));
    expect(runTool(PROMTOOL, ['test', 'rules', file], '')).toMatchObject({ status: 0, stderr: '' });
  });

  it.skipIf(areMissing(PROMTOOL))('an outage is a gap in rates of machines, not a dip', () => {
    const panel = DASHBOARDS.find(({ title }) => title === 'Staking machine')?.panels.find(
      ({ title }) => title === 'Network',
    );
    const expr = interpolate(panel?.targets.find(({ legendFormat }) => legendFormat === 'received')?.expr ?? '');
    const labels = 'job="a", instance="a:1", chain="mainnet", machine="node-a"';
    // Nothing new from minute 30 on. The counter is withdrawn at minute 40, and both are back at minute 56.
    const input_series = [
      {
        series: `beaconchain_machine_network_receive_bytes_total{${labels}}`,
        values: '0+600x30 18000x9 stale _x14 33600+600x40',
      },
      {
        series: `beaconchain_machine_last_seen_timestamp_seconds{${labels}, process="system"}`,
        values: '1000+60x30 2800x24 4360+60x40',
      },
    ];
    const shown = { labels: '{chain="mainnet", machine="node-a"}', value: 10 };
    const minutes = Array.from({ length: 60 }, (_, i) => 30 + i);
    const promql_expr_test = [
      ...[25, 80].map((minute) => ({ expr: `round(${expr})`, eval_time: `${minute}m`, exp_samples: [shown] })),
      ...minutes.map((minute) => ({ expr: `abs(${expr} - 10) > 0.1`, eval_time: `${minute}m`, exp_samples: [] })),
    ];
    const file = join(temporaryFolder(), 'outage.yaml');
    writeFileSync(
      file,
      stringify({ evaluation_interval: '1m', tests: [{ interval: '1m', input_series, promql_expr_test }] }),
    );
    expect(runTool(PROMTOOL, ['test', 'rules', file], '')).toMatchObject({ status: 0, stderr: '' });
  });
});
