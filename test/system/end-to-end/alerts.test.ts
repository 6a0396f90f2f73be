import { beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../../src/sandbox/control.ts';
import type { Sandbox } from '../../../src/sandbox/world.ts';
import { waitFor } from '../../support/programs/program.ts';
import { hastyClock } from '../../support/time/haste.ts';
import type { Alertmanager, Notification } from '../../support/tools/alertmanager.ts';
import type { Prometheus } from '../../support/tools/prometheus.ts';
import { ALERTMANAGER, areMissing, PROMETHEUS } from '../../support/tools/tools.ts';
import { type HastyExporter, startHastyAlerts, startHastyExporter, WATCHED } from './hasty-exporter.ts';

const SPEED = 100;
const MINUTE = 60_000;
/** The BeaconchainWatchdog always fires. */
const FIRING = 'ALERTS{alertstate="firing", severity!="none"}';
/** An hour before day, month and quarter end. */
const EVENING = Date.UTC(2026, 8, 30, 23);

const ATTESTER = 'BeaconchainAttesterSlashing';
const DISK = 'BeaconchainDiskAlmostFull node-a';
const OFFLINE = 'BeaconchainMachineOffline node-a';
const MISSED = 'BeaconchainWatchedProposalMissed';
const SLASHED = 'BeaconchainWatchedValidatorSlashed';

/** In the order of time: what was made to happen stays for the tests after it. */
describe.skipIf(areMissing(PROMETHEUS, ALERTMANAGER))('system/end-to-end/alerts', () => {
  const clock = hastyClock(SPEED, EVENING);
  let exporter: HastyExporter;
  let sandbox: Sandbox;
  let prometheus: Prometheus;
  let alertmanager: Alertmanager;

  beforeAll(async () => {
    // What a silent machine last said stays: only then there is anything to inhibit.
    exporter = await startHastyExporter(clock, { stale_after: '6h' });
    ({ sandbox } = exporter);
    ({ prometheus, alertmanager } = await startHastyAlerts(exporter, { speed: SPEED, ...clock }));
  }, 30_000);

  const order = (path: string, now = clock.now()): void => {
    expect(control(sandbox, { method: 'POST', path }, now)).toMatchObject({ status: 200 });
  };
  /** These and no others: where the machine has no time for the exporter, one more may flicker. */
  const expectFiring = (...expected: string[]): Promise<void> =>
    waitFor(async () => {
      const series = await prometheus.query(FIRING);
      const names = series.map(({ metric: { alertname, machine } }) => [alertname, machine].filter(Boolean).join(' '));
      expect(names.toSorted()).toEqual(expected);
    });
  /** The notifications without the BeaconchainWatchdog, which may come a minute late: Prometheus sent it before it knew Alertmanager. */
  const troubles = () => alertmanager.notifications.filter(({ alert }) => alert !== 'BeaconchainWatchdog');
  /** Waits until the webhook is notified, and returns the minutes in the exporter's time. */
  const told = async (alert: string, since: number): Promise<number> => {
    const isIt = (one: Notification): boolean => one.alert === alert && one.status === 'firing';
    const { at } = await waitFor(() => alertmanager.notifications.find(isIt) ?? expect.fail(alert));
    return (clock.now() - (Date.now() - at) * SPEED - since) / MINUTE;
  };
  const pass = async (minutes: number): Promise<void> => {
    const until = clock.now() + minutes * MINUTE;
    await waitFor(() => expect(clock.now()).toBeGreaterThan(until));
  };

  it('nothing fires in ten minutes in which all is well', async () => {
    await waitFor(async () => expect(await prometheus.query('min(beaconchain_source_up) == 1')).toHaveLength(1));
    await pass(12);
    expect(await prometheus.query(`count_over_time(${FIRING}[1h])`)).toEqual([]);
    expect(await prometheus.query('beaconchain:machine_silence_seconds')).toHaveLength(5);
    expect(troubles()).toEqual([]);
  });

  it('all machines fall silent within a minute: one BeaconchainAllMachinesSilent, and one message when they are back', async () => {
    const series = await prometheus.query('beaconchain:machine_silence_seconds');
    const machines = series.map(({ metric }) => metric['machine'] ?? '');
    const since = clock.now();
    for (const name of machines) order(`/-/silence?machine=${name}`, since);
    expect(await told('BeaconchainAllMachinesSilent', since)).toBeGreaterThan(9);
    await pass(10);
    for (const name of machines) {
      order(`/-/wake?machine=${name}`);
      await pass(1);
    }
    await waitFor(() => expect(troubles().length).toBeGreaterThan(1));
    await pass(10);
    expect(troubles().map(({ alert, status, receiver }) => [alert, status, receiver])).toEqual([
      ['BeaconchainAllMachinesSilent', 'firing', 'pager'],
      ['BeaconchainAllMachinesSilent', 'resolved', 'pager'],
    ]);
    await expectFiring();
  });

  it('a disk fills: BeaconchainDiskAlmostFull of that machine', async () => {
    const since = clock.now();
    order('/-/fill-disk?machine=node-a', since);
    expect(await told('BeaconchainDiskAlmostFull', since)).toBeGreaterThan(5);
    await expectFiring(DISK);
  });

  it('the machine falls silent: BeaconchainMachineOffline, and its other alerts are silenced', async () => {
    const since = clock.now();
    order('/-/silence?machine=node-a', since);
    // Its last push may have been a minute before.
    expect(await told('BeaconchainMachineOffline', since)).toBeGreaterThan(9);
    await expectFiring(DISK, OFFLINE);
    await waitFor(async () => {
      const alerts = (await alertmanager.alerts()).filter(({ labels }) => labels['severity'] !== 'none');
      const states = alerts.map(({ labels, status }) => [labels['alertname'], status.state, status.inhibitedBy.length]);
      expect(states.toSorted()).toEqual([
        ['BeaconchainDiskAlmostFull', 'suppressed', 1],
        ['BeaconchainMachineOffline', 'active', 0],
      ]);
    });
  });

  it('a watched validator misses its proposal: BeaconchainWatchedProposalMissed, once that is final', async () => {
    const since = clock.now();
    order(`/-/miss-proposal?validator=${WATCHED}`, since);
    // The slot is among the next ones. Its epoch of 6.4 minutes, or the rest of it, and the next one pass before it is final.
    expect(await told('BeaconchainWatchedProposalMissed', since)).toBeGreaterThan(6.4);
    await expectFiring(DISK, OFFLINE, MISSED);
    const { annotations } =
      alertmanager.notifications.find(({ alert }) => alert === 'BeaconchainWatchedProposalMissed') ?? {};
    expect(annotations?.['summary']).toBe(`Watched validator ${WATCHED} (mainnet) missed its proposal`);
    expect(annotations?.['explorer_url']).toBe(`https://beaconcha.in/validator/${WATCHED}`);
  });

  it('a watched validator is slashed: BeaconchainWatchedValidatorSlashed, and BeaconchainAttesterSlashing for the log', async () => {
    const since = clock.now();
    order(`/-/slash?validators=${WATCHED}`, since);
    await told('BeaconchainWatchedValidatorSlashed', since);
    await told('BeaconchainAttesterSlashing', since);
    await expectFiring(ATTESTER, DISK, OFFLINE, MISSED, SLASHED);
    const receivers = troubles().map(({ alert, receiver }) => `${alert} ${receiver}`);
    expect([...new Set(receivers)].toSorted()).toEqual([
      'BeaconchainAllMachinesSilent pager',
      'BeaconchainAttesterSlashing log',
      'BeaconchainDiskAlmostFull pager',
      'BeaconchainMachineOffline pager',
      'BeaconchainWatchedProposalMissed chat',
      'BeaconchainWatchedValidatorSlashed pager',
    ]);
  });

  it('access is revoked: BeaconchainAccessRevoked, and what is said of machines is silenced', async () => {
    const since = clock.now();
    sandbox.account.isRevoked = true;
    await told('BeaconchainAccessRevoked', since);
    await pass(20);
    await expectFiring('BeaconchainAccessRevoked', ATTESTER, DISK, OFFLINE, MISSED, SLASHED);
    // Between two messages of a busy Prometheus, Alertmanager may take what inhibits for resolved.
    await waitFor(async () => {
      const silenced = (await alertmanager.alerts())
        .filter(({ status }) => status.state === 'suppressed')
        .map(({ labels }) => labels['alertname']);
      expect(silenced.toSorted()).toEqual(['BeaconchainDiskAlmostFull', 'BeaconchainMachineOffline']);
    });
  });

  it('every runbook_url leads to the section of its alert, on the exporter that it is about', async () => {
    const links = troubles().map(({ annotations }) => annotations['runbook_url'] ?? '');
    expect(links.length).toBeGreaterThan(0);
    for (const link of new Set(links)) {
      expect(link).toMatch(new RegExp(`^http://127.0.0.1:${exporter.port}/docs/alerts#`));
      const response = await fetch(link);
      expect([link, response.status]).toEqual([link, 200]);
      expect(await response.text(), link).toContain(`<h3 id="${new URL(link).hash.slice(1)}">`);
    }
  });

  it('the exporter is down: BeaconchainExporterDown, and nothing that fired before is called resolved', async () => {
    const since = clock.now();
    const before = alertmanager.notifications.length;
    await exporter.down();
    expect(await told('BeaconchainExporterDown', since)).toBeGreaterThan(5);
    await expectFiring('BeaconchainExporterDown', MISSED);
    await pass(10);
    const told10 = alertmanager.notifications.slice(before).map(({ alert, status }) => `${alert} ${status}`);
    expect(new Set(told10)).toEqual(new Set(['BeaconchainExporterDown firing', 'BeaconchainWatchdog firing']));
  });

  it('says in words what happened', () => {
    const texts = alertmanager.notifications.flatMap(({ annotations }) => [
      annotations['summary'],
      annotations['description'],
    ]);
    expect(texts).not.toContainEqual(expect.stringMatching(/<no value>|%!|NaN|\{\{/));
    expect(texts).toContain('Machine node-a (mainnet) is silent');
    expect(texts).toContainEqual(expect.stringMatching(/^Only 5% of the disk is free/));
    expect(texts).toContainEqual(expect.stringMatching(/^1 new in the last hour/));
  });
});
