/** A request for the slots of the finalized epoch, as the program sends it. */
export const FINALIZED = {
  endpoint: 'epoch_slots',
  base: 'http://service',
  path: '/api/v1/epoch/finalized/slots',
  method: 'GET',
  headers: { apikey: 'key-0' },
} as const;
