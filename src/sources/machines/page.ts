import { PROCESSES, type Process, type SystemRecord } from '../../api/answers/machines.ts';
import { formatSeconds } from '../../toolkit/lib/duration.ts';
import { Html, html } from '../../toolkit/lib/html.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { bytes, count, cropped, listed, percent, plural } from '../../toolkit/lib/words.ts';
import {
  firing,
  firingIf,
  MACHINE_ALERTS,
  MACHINE_CONDITIONS,
  type MachineAlert,
  THRESHOLDS,
  toneOf,
} from '../conditions.ts';
import { badge, bar, type Cell, lines, type Notice, notice, type Row, type Summary, time } from '../content.ts';
import type { Timing } from '../read.ts';
import type { Polls } from '../source.ts';
import { isRecent, type ListedMachine, listedMachines, silentGroups } from './conditions.ts';
import { COUNTERS, hasFallen } from './counters.ts';
import { secondsAhead } from './learned.ts';
import type { MachinesOptions } from './options.ts';
import type { ShownMachine } from './shown.ts';
import { lastSeen, type Machine, type Machines } from './state.ts';

/** The page crops longer names. /metrics has them whole. */
const MAX_NAME = 100;
const MAX_CLIENT = 40;

export function machinesPage(options: MachinesOptions, value: Machines, timing: Timing, polls: Polls): Summary {
  const { now } = timing;
  const all = listedMachines(options, value, timing, polls);
  const numberOf = (tone: Notice['tone']): number => all.filter((one) => badgesOf(one, now)[0][1] === tone).length;
  const unknown = numberOf('neutral');
  return {
    notices: [...noticesOf(all, value.dropped), ...withheldNotices(value.machines, now)],
    groups: groupsOf(options, all, now),
    tally: { noun: 'machine', well: numberOf('good'), known: all.length - unknown, unknown },
    tables: [
      {
        title: 'Machines',
        columns: ['Machine', 'State', 'Chain', 'Synced', 'Processes', 'Memory used', 'Disk used'],
        rows: { [Symbol.iterator]: () => all.values().map((one) => machineRow(one, now)) },
        size: all.length,
        empty: 'No machine seen yet. Clients report machines only if they are configured to push to the service.',
      },
    ],
  };
}

type Badge = readonly [text: string, tone: Notice['tone']];

/** The worst first. */
function badgesOf(machine: ListedMachine, now: UnixMs): readonly [Badge, ...Badge[]] {
  const [worst, ...others] = machine.alerts.map((alert): Badge => [MACHINE_CONDITIONS[alert].badge, toneOf(alert)]);
  if (worst) return [worst, ...others];
  if (lastSeen(machine.seen) === 0) return [['waits for the first sweep', 'neutral']];
  if (machine.isLate) return [['late', 'warning']];
  if (isRecent(machine, now)) return [['healthy', 'good']];
  // Between rare polls a machine can have been silent for hours, although its values are still shown.
  return [['out of date', 'neutral']];
}

/** How many machines of each group are healthy, and what is wrong with the others. */
function groupsOf(options: MachinesOptions, all: readonly ListedMachine[], now: UnixMs) {
  const machinesOf = Map.groupBy(all, ({ labels }) => labels.group);
  const named = options.groups.flatMap(({ name, machines }) => (machines.length > 0 ? [name] : []));
  return [...named, ...(machinesOf.has(undefined) ? [undefined] : [])].map((group) => {
    const worst = (machinesOf.get(group) ?? []).map((machine) => badgesOf(machine, now)[0]);
    const others = worst.filter(([, tone]) => tone !== 'good');
    const value = lines(
      `${count(worst.length - others.length)} of ${count(worst.length)} healthy`,
      ...[...new Map(others)].map(([text, tone]) =>
        badge(tone, `${count(others.filter(([other]) => other === text).length)} ${text}`),
      ),
    );
    return { group, facts: [['Machines', value] as const] };
  });
}

/** A node that says no is in sync if its head is close to the clock. On an assumed chain this is unknown. */
function syncedText({ alerts, fresh: { node }, isChainKnown }: ListedMachine): string {
  if (node?.sync_eth2_synced == null || !(node.sync_eth2_synced || isChainKnown)) return '';
  return alerts.includes('BeaconchainBeaconNodeNotSynced') ? 'no' : 'yes';
}

function noticesOf(all: readonly ListedMachine[], dropped: number): Notice[] {
  const namesOf = (alert: MachineAlert): string[] =>
    all.flatMap(({ alerts, labels, fresh }) => {
      const by = alert === 'BeaconchainMachineClockWrong' ? ` (by ${formatSeconds(secondsAhead(fresh) * 1000)})` : '';
      return alerts.includes(alert) ? [cropped(labels.machine, MAX_NAME) + by] : [];
    });
  const silent = silentGroups(all);
  const ofNone = all.some(({ labels }) => labels.group !== undefined) ? ' of no group' : '';
  return [
    ...(silent.includes(undefined) ? [firing('BeaconchainAllMachinesSilent', [], ofNone)] : []),
    ...firingIf(
      'BeaconchainGroupSilent',
      silent.filter((group) => group !== undefined),
    ),
    ...MACHINE_ALERTS.flatMap((alert) => firingIf(alert, namesOf(alert))),
    ...(dropped > 0 ? [notice('warning', `${plural(dropped, 'machine')} dropped because of machines.max`, '.')] : []),
  ];
}

function withheldNotices(machines: Machines['machines'], now: UnixMs): Notice[] {
  const names = machines.flatMap((machine) => {
    const why = Object.entries(COUNTERS).flatMap(([set, { why }]) => (hasFallen(set, machine, now) ? [why] : []));
    return why.length > 0 ? [`${cropped(machine.name, MAX_NAME)} (${why.join(', ')})`] : [];
  });
  if (names.length === 0) return [];
  const what = 'Counters that several pushers report in turn are not shown for up to an hour';
  return [notice('neutral', what, `: ${listed(names)}. Let one client of each host push, and give each node a name.`)];
}

function machineRow(one: ListedMachine, now: UnixMs): Row {
  const { labels, fresh } = one;
  const badges = lines(...badgesOf(one, now).map(([text, tone]) => badge(tone, text)));
  const processes = lines(...processLines(one, now));
  const name = cropped(labels.machine, MAX_NAME);
  return [name, badges, labels.chain, syncedText(one), processes, memory(fresh.system), disk(fresh.system)];
}

/** One line for processes of one client that reported at the same time. */
function processLines({ seen, fresh }: ShownMachine, now: number): Cell[] {
  const reports = Map.groupBy(PROCESSES, (process) => {
    const { timestamp } = seen[process] ?? {};
    return timestamp && html`${clientOf(process, fresh)}, ${time(Math.round(timestamp) * 1000, now)}`.text;
  });
  return [...reports].flatMap(([text, same]) => (text ? html`${same.join(', ')}${new Html(text)}` : []));
}

function clientOf(process: Process, fresh: Partial<Machine>): string {
  if (process === 'system') return '';
  const { client_name: name, client_version: version } = fresh[process] ?? {};
  const client = [name, version].filter(Boolean).join(' ');
  return client && ` ${cropped(client, MAX_CLIENT)}`;
}

/** Page cache and buffers count as free, because the kernel gives them back. Teku's free memory includes them. */
function memory(system: Partial<SystemRecord> = {}): Cell {
  const { memory_node_bytes_free: free, memory_node_bytes_cached: cached, memory_node_bytes_buffers: buffers } = system;
  // A running system never has 0 bytes of free memory, so the client left out the field.
  return free ? usage(system.memory_node_bytes_total, free + (cached ?? 0) + (buffers ?? 0)) : '';
}

function disk({ disk_node_bytes_free: free, disk_node_bytes_total: total }: Partial<SystemRecord> = {}): Cell {
  return free == null ? '' : usage(total, free, 1 - THRESHOLDS.disk_free_ratio);
}

/** @param full The used share from which the bar is shown as full */
function usage(total: number | null | undefined, free: number, full = 1): Cell {
  if (!total) return '';
  const share = Math.max(0, total - free) / total;
  return bar(share, `${percent(share)} of ${bytes(total)}`, share > full);
}
