import type { EventTable } from '../read.ts';

export const EVENTS = {
  withdrawal_address_set: { level: 'error', message: 'watched validator got a withdrawal address' },
  credentials_changed: { level: 'info', message: 'withdrawal credentials of a watched validator changed' },
  groups_share: { level: 'warn', message: 'two groups share a validator: the first one keeps the validator' },
  own_epochs_skipped: { level: 'warn', message: 'skipped finalized epochs of watched validators' },
  own_epoch_unread: { level: 'warn', message: 'counted a finalized epoch without some watched validators' },
} as const satisfies EventTable;
