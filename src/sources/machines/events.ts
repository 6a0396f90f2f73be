import type { EventTable, SourceEvent } from '../read.ts';

const READ_IN_PART = { level: 'warn', message: 'could not read all machine metrics' } as const;

/** By reason, which is also a field of the line. */
export const EVENTS = {
  repeated_cursor: READ_IN_PART,
  empty_pages: READ_IN_PART,
  too_many_pages: READ_IN_PART,
  too_many_machines: READ_IN_PART,
  counters_withheld: { level: 'warn', message: 'withholding counters that several pushers report in turn' },
  clock_fast: { level: 'warn', message: 'clock of a machine is fast: set up NTP there' },
  name_shared: {
    level: 'warn',
    message: 'several hosts share a machine name: give each its own',
  },
} as const satisfies EventTable;

/** `machines`: the machines concerned, if not all. */
export function warning(reason: keyof typeof EVENTS, machines?: readonly string[]): SourceEvent {
  return { type: reason, reason, machines };
}
