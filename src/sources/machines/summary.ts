import { html } from '../../lib/html.ts';
import { isolated } from '../../lib/text.ts';
import { bytes, cropped, listed, percent, plural } from '../../lib/words.ts';
import {
  badge,
  bar,
  type Cell,
  lines,
  type Notice,
  notice,
  type Row,
  type Summary,
  type Tone,
  time,
} from '../content.ts';
import type { Timing } from '../source.ts';
import { chainOf, type MachinesOptions } from './options.ts';
import { type Machine, type Machines, PROCESSES, type Process } from './schema.ts';
import { missing, type Shown, shownMachines } from './shown.ts';

/** The states of a machine, the worst first. */
const STATES = {
  'never seen': 'bad',
  silent: 'bad',
  'partly silent': 'warning',
  'not synced': 'warning',
  fresh: 'good',
} as const satisfies Record<string, Tone>;
type MachineState = keyof typeof STATES;
const WORST_FIRST = Object.keys(STATES) as MachineState[];

/** Longer names are cropped on the page. /metrics has them whole. */
const MAX_NAME = 100;
const MAX_CLIENT = 40;

/** Every machine, the worst first. */
export function machinesSummary(options: MachinesOptions, value: Machines, timing: Timing): Summary {
  const shown = shownMachines(options, value.machines, timing);
  const all = [
    ...missing(options, shown).map((name): ListedMachine => ({ name, state: 'never seen', shown: undefined })),
    ...shown.map((one): ListedMachine => ({ name: one.labels.machine, state: stateOf(one), shown: one })),
  ].sort((a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state));
  return {
    notices: noticesOf(all, value.dropped),
    tables: [
      {
        title: 'Machines',
        columns: ['Machine', 'State', 'Chain', 'Processes', 'Synced', 'Memory used', 'Disk used'],
        rows: {
          *[Symbol.iterator]() {
            for (const one of all) yield rowOf(options, one, timing);
          },
        },
        size: all.length,
        empty: 'None seen yet. A client reports machines once it is told the address of the service.',
        notes: ['Values older than they may be are withdrawn here as in /metrics; the time of the last report stays.'],
      },
    ],
  };
}

interface ListedMachine {
  readonly name: string;
  readonly state: MachineState;
  /** Undefined where it was never seen. */
  readonly shown: Shown | undefined;
}

function stateOf({ seen, fresh }: Shown): MachineState {
  const processes = PROCESSES.filter((process) => seen[process]);
  const silent = processes.filter((process) => !fresh[process]);
  if (silent.length > 0) return silent.length === processes.length ? 'silent' : 'partly silent';
  return isSynced(fresh) === false ? 'not synced' : 'fresh';
}

function syncedText(records: Partial<Machine>): string {
  const synced = isSynced(records);
  if (synced === undefined) return '';
  return synced ? 'yes' : 'no';
}

/** An absent flag is false. Null says nothing. */
function isSynced({ node }: Partial<Machine>): boolean | undefined {
  return node && node.sync_eth2_synced !== null ? Boolean(node.sync_eth2_synced) : undefined;
}

function noticesOf(all: readonly ListedMachine[], dropped: number): Notice[] {
  const notices = WORST_FIRST.filter((state) => state !== 'fresh').flatMap((state): Notice[] => {
    const names = all.filter((one) => one.state === state).map(({ name }) => titleOf(name));
    if (names.length === 0) return [];
    return [notice('warning', `${plural(names.length, 'machine')} ${state}: ${listed(names)}.`)];
  });
  if (dropped === 0) return notices;
  return [...notices, notice('warning', `${plural(dropped, 'machine')} left out: more than machines.max.`)];
}

function rowOf(options: MachinesOptions, { name, state, shown }: ListedMachine, { now }: Timing): Row {
  const stateBadge = badge(STATES[state], state);
  const title = titleOf(name);
  if (!shown) return [title, stateBadge, chainOf(options, name), '', '', '', ''];
  const { system } = shown.fresh;
  return [
    title,
    stateBadge,
    shown.labels.chain,
    lines(...processLines(shown, now)),
    syncedText(shown.fresh),
    system ? memory(system) : '',
    system ? disk(system) : '',
  ];
}

/** A name as the page shows it. */
function titleOf(name: string): string {
  return isolated(cropped(name, MAX_NAME));
}

function processLines({ seen, fresh }: Shown, now: number): Cell[] {
  return PROCESSES.flatMap((process): Cell[] => {
    const record = seen[process];
    if (!record) return [];
    return [html`${process}${clientOf(process, fresh)}, ${time(Math.round(record.timestamp) * 1000, now)}`];
  });
}

function clientOf(process: Process, fresh: Partial<Machine>): string {
  if (process === 'system') return '';
  const { client_name: name, client_version: version } = fresh[process] ?? {};
  const client = [name, version].filter(Boolean).join(' ');
  return client && ` ${isolated(cropped(client, MAX_CLIENT))}`;
}

type System = NonNullable<Machine['system']>;

/** Page cache and buffers count as free, because the kernel gives them back. Teku's free memory includes them. */
function memory(system: System): Cell {
  const { memory_node_bytes_total: total, memory_node_bytes_free: free } = system;
  const reclaimable = (system.memory_node_bytes_cached ?? 0) + (system.memory_node_bytes_buffers ?? 0);
  return free === null ? '' : usage(total, (free ?? 0) + reclaimable);
}

function disk({ disk_node_bytes_total: total, disk_node_bytes_free: free }: System): Cell {
  return free === null ? '' : usage(total, free ?? 0);
}

/** A disk or memory used beyond this share is shown as full. */
const FULL = 0.9;

function usage(total: number | null | undefined, free: number): Cell {
  if (!total) return '';
  const used = Math.max(0, total - free);
  const share = used / total;
  const text = `${percent(share)} of ${bytes(total)}`;
  return bar(total, [{ fill: share >= FULL ? 'full' : 'used', size: used, text }]);
}
