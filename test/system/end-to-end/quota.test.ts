import { beforeAll, describe, expect, it } from 'vitest';
import type { Alertmanager } from '../../support/alertmanager.ts';
import { hastyClock } from '../../support/haste.ts';
import { logLines } from '../../support/log-lines.ts';
import { waitFor } from '../../support/program.ts';
import type { Prometheus } from '../../support/prometheus.ts';
import { ALERTMANAGER, areMissing, PROMETHEUS } from '../../support/tools.ts';
import { type HastyExporter, startHastyAlerts, startHastyExporter } from './hasty-exporter.ts';

const SPEED = 100;
const MINUTE = 60_000;
/** Far from the end of a month, whenever the tests run. */
const OCTOBER_10 = Date.UTC(2026, 9, 10);
const NOVEMBER_SECONDS = Date.UTC(2026, 10, 1) / 1000;
/** So much that a poll a minute fits. */
const QUOTA = 1_000_000;

const names = (series: readonly { metric: Readonly<Record<string, string>> }[]): string[] =>
  series.map(({ metric }) => metric['source'] ?? '').toSorted();

/** In the order of time: what was made to happen stays for the tests after it. */
describe.skipIf(areMissing(PROMETHEUS, ALERTMANAGER))(
  'end-to-end/quota: others use up the month',
  { timeout: 60_000 },
  () => {
    const clock = hastyClock(SPEED, undefined, OCTOBER_10);
    const { log, lines } = logLines();
    let exporter: HastyExporter;
    let prometheus: Prometheus;
    let alertmanager: Alertmanager;
    let spentAt: number;

    beforeAll(async () => {
      exporter = await startHastyExporter(clock, { log });
      const { sandbox } = exporter;
      sandbox.plan = { perSecond: 5, perMonth: QUOTA };
      ({ prometheus, alertmanager } = await startHastyAlerts(exporter, { speed: SPEED, ...clock }));
      await waitFor(async () => expect(await prometheus.query('beaconchain_source_up == 1')).toHaveLength(8), 30_000);
      await waitFor(async () => expect(await prometheus.query('beaconchain_machine_cpu_cores')).toHaveLength(5));
      // It wakes somebody, so it must stay when only a warning tells that nothing new is known.
      sandbox.silence('node-a', clock.now());
      await waitFor(
        () => expect(alertmanager.notifications.map(({ alert }) => alert)).toContain('BeaconchainMachineOffline'),
        30_000,
      );
      spentAt = clock.now();
      sandbox.spend(QUOTA - sandbox.account.inMonth, spentAt);
    }, 90_000);

    const status = async (): Promise<string> => (await exporter.exporter.status('page', false)).toString();

    it('every source waits until the month ends, at the pace that it had', async () => {
      const waits = 'beaconchain_source_quota_wait_end_timestamp_seconds > 0';
      await waitFor(async () => expect(await prometheus.query(waits)).toHaveLength(8), 30_000);
      for (const name of ['quota_wait_end', 'next_attempt']) {
        const series = await prometheus.query(`beaconchain_source_${name}_timestamp_seconds`);
        const late = series.map(({ value }) => Number(value[1]) - NOVEMBER_SECONDS);
        expect(late, name).toHaveLength(8);
        // A 429 tells whole seconds, from when it came: a busy machine takes it in 100 ms later, which is ten seconds here.
        for (const seconds of late) {
          expect(seconds, name).toBeGreaterThanOrEqual(0);
          expect(seconds, name).toBeLessThan(60);
        }
      }
      const fast = await prometheus.query('beaconchain_source_interval_seconds <= 65');
      expect(names(fast)).toEqual(['machines', 'slashings', 'slashings']);
      expect(await prometheus.query('beaconchain_budget_stretch_ratio == 1')).toHaveLength(5);
    });

    it('one line of the log says which, for what and until when', () => {
      const said = lines.filter(({ msg }) => msg === 'sources wait for the quota');
      const until = expect.stringMatching(/^monthly quota, until 2026-11-01T00:00:\d\d\.\d{3}Z$/);
      expect(said).toEqual([
        expect.objectContaining({
          level: 'warn',
          waits: expect.objectContaining({ machines: until, 'slashings-hoodi': until, 'daily_returns-mainnet': until }),
        }),
      ]);
    });

    it('the status page says so in its headline and in the row of each source', async () => {
      const page = await status();
      expect(page).toContain('<h2 id="verdict">Not working: all sources wait for the quota</h2>');
      expect(page).toContain('Waiting for the monthly quota, until 2026-11-01 00:00:');
      expect(page.match(/waits for the quota<\/span>/g)).toHaveLength(8);
    });

    it('values are gone ten minutes after their records, as in an outage', async () => {
      await waitFor(async () => expect(await prometheus.query('beaconchain_machine_cpu_cores')).toEqual([]), 30_000);
      // A record may be a minute old when it is read, and its poll a minute before the end.
      expect((clock.now() - spentAt) / MINUTE).toBeLessThan(20);
      await waitFor(async () => expect(await prometheus.query('beaconchain_head_slot')).toEqual([]));
      expect(await prometheus.query('beaconchain_machine_last_seen_timestamp_seconds{process="system"}')).toHaveLength(
        5,
      );
    });

    it('BeaconchainSourceWaitsForQuota tells the operator, and only a machine that was silent before stays reported', async () => {
      await waitFor(() => {
        const told = alertmanager.notifications.filter(({ alert }) => alert === 'BeaconchainSourceWaitsForQuota');
        expect(new Set(told.map(({ labels }) => labels['source'])).size).toBe(5);
        expect(new Set(told.map(({ receiver }) => receiver))).toEqual(new Set(['chat']));
      }, 30_000);
      const alerts = await alertmanager.alerts();
      const active = alerts
        .filter(({ status: { state } }) => state === 'active')
        .map(({ labels }) => labels['alertname']);
      expect(new Set(active)).toEqual(new Set(['BeaconchainSourceWaitsForQuota', 'BeaconchainMachineOffline']));
      const offline = alerts.filter(({ labels }) => labels['alertname'] === 'BeaconchainMachineOffline');
      expect(offline.map(({ labels, status: { state } }) => [labels['machine'], state])).toEqual([
        ['node-a', 'active'],
      ]);
      const { annotations } =
        alertmanager.notifications.find(({ alert }) => alert === 'BeaconchainSourceWaitsForQuota') ?? {};
      expect(annotations?.['description']).toMatch(
        /^The remaining quota .* is too small, .* The next poll is in 2\dd \d+h/,
      );
    });
  },
);
