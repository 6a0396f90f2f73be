import type { EventTable } from '../read.ts';

export const EVENTS = {
  withdrawal_address_set: { level: 'error', message: 'watched validator got a withdrawal address' },
  credentials_changed: { level: 'info', message: 'withdrawal credentials of a watched validator changed' },
  groups_share: { level: 'warn', message: 'two groups share a validator: the first keeps it' },
  own_epochs_skipped: { level: 'warn', message: 'finalized epochs of watched validators skipped' },
  own_epoch_unread: { level: 'warn', message: 'finalized epoch counted without some watched validators' },
} as const satisfies EventTable;
