import { CLOCK_AHEAD_MS } from '../../lib/clock.ts';
import type { UnixMs } from '../../lib/time.ts';
import { type Family, lazyFamily, type Sample } from '../../metrics/family.ts';
import type { Timing } from '../source.ts';
import { type FieldFamily, FLEET, PROCESS_FIELDS } from './catalogue.ts';
import { isNetworkWithheld, learn, learnAll } from './learned.ts';
import { chainOf, isIncluded, type MachinesOptions, machineName } from './options.ts';
import { type Learned, type Machine, type MachineRecord, type Machines, PROCESSES } from './schema.ts';
import { freshOf, missing, pastOf, type Shown, shownFor, shownMachines } from './shown.ts';

/** Every machine family, with the samples that are to be shown at `timing.now`. */
export function machineFamilies(options: MachinesOptions, { machines, dropped }: Machines, timing: Timing): Family[] {
  const shown = shownMachines(options, machines, timing);
  return [
    lazyFamily(FLEET.lastSeen, () => [...shown.flatMap(lastSeenSamples), ...neverSeen(options, shown)]),
    ...recordFamilies(false, shown),
    { ...FLEET.count, samples: countByChain(options, shown) },
    { ...FLEET.dropped, samples: [{ labels: {}, value: dropped }] },
  ];
}

/**
 * The families of past records of one machine, in ascending time. Each sample has the time of its record. Excludes
 * families about the whole fleet, which describe only the present. `known`: what earlier records say.
 */
export function pastMachineFamilies(
  options: MachinesOptions,
  records: readonly MachineRecord[],
  known: Learned = {},
): Family[] {
  const shown = pastMachines(records, known)
    .filter((machine) => isIncluded(options, machine.name))
    .map((machine) => pastOf(options, machine));
  return [
    lazyFamily(FLEET.lastSeen, () =>
      shown.flatMap(lastSeenSamples).map((sample): Sample => ({ ...sample, at: sample.value })),
    ),
    ...recordFamilies(true, shown),
  ];
}

/** The machine at the time of each record, as far as that record tells. Its chain is that of all records together. */
function pastMachines(records: readonly MachineRecord[], known: Learned): Machine[] {
  const { chain } = learnAll({ learned: known }, records);
  let held: Partial<Machine> = {};
  let learned = known;
  return records.map((one) => {
    const [process, record] = one;
    learned = learn(learned, held, one);
    held = { ...held, [process]: record };
    return { name: machineName(record.machine), [process]: record, learned: { ...learned, ...(chain && { chain }) } };
  });
}

/** The families whose samples each come from one record, and have its time if `isTimed`. */
function recordFamilies(isTimed: boolean, shown: readonly Shown[]): Family[] {
  return [
    lazyFamily(FLEET.info, () => shown.flatMap((machine) => systemInfo(isTimed, machine))),
    ...PROCESS_FIELDS.map((field) => lazyFamily(field, () => fieldSamples(isTimed, field, shown))),
    lazyFamily(FLEET.chainKnown, () => shown.flatMap((machine) => chainKnown(isTimed, machine))),
    lazyFamily(FLEET.clientInfo, () => shown.flatMap((machine) => clientInfo(isTimed, machine))),
  ];
}

function fieldSamples(isTimed: boolean, field: FieldFamily, shown: readonly Shown[]): Sample[] {
  const samples: Sample[] = [];
  for (const machine of shown) {
    for (const process of field.processes) {
      const record = machine.fresh[process];
      const value = record && field.value(record);
      if (!record || value == null) continue;
      const labels = field.processes.length > 1 ? machine.processLabels[process] : machine.labels;
      samples.push({ labels, value: Number(value), ...timeOf(isTimed, record) });
    }
  }
  return samples;
}

function lastSeenSamples({ processLabels, seen }: Shown): Sample[] {
  return PROCESSES.flatMap((process) => {
    const record = seen[process];
    return record ? [{ labels: processLabels[process], value: record.timestamp }] : [];
  });
}

function neverSeen(options: MachinesOptions, shown: readonly Shown[]): Sample[] {
  return missing(options, shown).map((name) => ({
    labels: { chain: chainOf(options, { name }), machine: name, process: 'system' },
    value: 0,
  }));
}

function timeOf(isTimed: boolean, { timestamp }: { timestamp: number }): { at?: number } {
  return isTimed ? { at: timestamp } : {};
}

function systemInfo(isTimed: boolean, { labels, fresh }: Shown): Sample[] {
  const record = fresh.system;
  if (!record) return [];
  const system = { os: record.misc_os ?? '', exporter_version: record.exporter_version ?? '' };
  return [{ labels: { ...labels, ...system }, value: 1, ...timeOf(isTimed, record) }];
}

/** Beside a head slot, whose lag means nothing on an assumed chain. */
function chainKnown(isTimed: boolean, { labels, fresh: { node }, isChainKnown }: Shown): Sample[] {
  if (node?.sync_beacon_head_slot == null) return [];
  return [{ labels, value: Number(isChainKnown), ...timeOf(isTimed, node) }];
}

function clientInfo(isTimed: boolean, { labels, fresh }: Shown): Sample[] {
  return (['validator', 'node'] as const).flatMap((process) => {
    const record = fresh[process];
    if (!record) return [];
    const client = {
      client_name: record.client_name ?? '',
      client_version: record.client_version ?? '',
      client_build: String(record.client_build ?? ''),
      exporter_version: record.exporter_version ?? '',
    };
    return [{ labels: { ...labels, process, ...client }, value: 1, ...timeOf(isTimed, record) }];
  });
}

function countByChain(options: MachinesOptions, shown: readonly Shown[]): Sample[] {
  const counts = new Map<string, number>(options.chains.map((chain) => [chain, 0]));
  const chains = [
    ...shown.map(({ labels }) => labels.chain),
    ...missing(options, shown).map((name) => chainOf(options, { name })),
  ];
  for (const chain of chains) counts.set(chain, (counts.get(chain) ?? 0) + 1);
  return [...counts].map(([chain, value]) => ({ labels: { chain }, value }));
}

/** When the next value is withdrawn or shown again, or the next record is forgotten or no longer too far ahead. */
export function nextMachineChange(options: MachinesOptions, { machines }: Machines, timing: Timing): UnixMs {
  const ages = [shownFor(options, timing), options.forgetAfterMs];
  let next = Number.POSITIVE_INFINITY;
  for (const machine of machines) {
    if (!isIncluded(options, machine.name)) continue;
    const counters = networkShownAgainAt(options, machine, timing);
    if (counters !== undefined) next = Math.min(next, counters);
    for (const process of PROCESSES) {
      const record = machine[process];
      if (!record) continue;
      const at = record.timestamp * 1000;
      // The first ms at which it is no longer too far ahead, and the first beyond each age.
      for (const change of [Math.ceil(at - CLOCK_AHEAD_MS), ...ages.map((ageMs) => Math.floor(at + ageMs) + 1)]) {
        if (change > timing.now) next = Math.min(next, change);
      }
    }
  }
  return next;
}

/** When its withheld network counters are shown again; undefined: they are not. */
function networkShownAgainAt(options: MachinesOptions, machine: Machine, timing: Timing): UnixMs | undefined {
  const { networkFell } = machine.learned ?? {};
  if (!networkFell || !isNetworkWithheld(machine, timing.now)) return undefined;
  const until = Math.ceil(networkFell.until * 1000);
  return freshOf(options, machine, { ...timing, now: until }).system ? until : undefined;
}
