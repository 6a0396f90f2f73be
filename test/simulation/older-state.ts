import type { SimulatedDisk } from './disk.ts';
import { STATE_DIR } from './exporter-setting.ts';

type Fields = Record<string, unknown>;

/** Fields that earlier versions did not write. */
const LATER_IN_ENTRIES = ['failingSince', 'vainInARow', 'durations', 'costs'];
/** Those that earlier versions did not know at all: their absence means the same as an empty list. */
const LATER_LISTS = ['proposerSlashed', 'namedSlots', 'recentProposals', 'missedProposals', 'recent'];
const LATER_IN_LOCKS = ['boot', 'namespace', 'id'];

/** The state of a host as an earlier version would have left it. */
export function makeOlder(disk: SimulatedDisk): void {
  for (const [name, bytes] of disk.filesIn(STATE_DIR)) {
    const file = `${STATE_DIR}/${name}`;
    if (name === 'first-start.json') disk.remove(file);
    else if (name === 'lock') change(disk, file, bytes, (lock) => without(lock, LATER_IN_LOCKS));
    else if (name.endsWith('.json')) change(disk, file, bytes, older);
  }
}

function older(document: Fields): Fields {
  const { value } = document;
  if (!isFields(value)) return document;
  const entry = 'attempts' in value ? without(value, LATER_IN_ENTRIES) : value;
  const known = entry['value'];
  return { ...document, value: isFields(known) ? { ...entry, value: withoutEmpty(known) } : entry };
}

function withoutEmpty(value: Fields): Fields {
  return without(
    value,
    LATER_LISTS.filter((name) => Array.isArray(value[name]) && value[name].length === 0),
  );
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

function change(disk: SimulatedDisk, file: string, bytes: Buffer, by: (fields: Fields) => Fields): void {
  let found: unknown;
  try {
    found = JSON.parse(bytes.toString());
  } catch {
    return;
  }
  // Earlier versions left their files readable to others.
  if (isFields(found)) disk.put(file, JSON.stringify(by(found)));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
