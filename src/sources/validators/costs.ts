import { IDENTIFIERS_OF_AGGREGATE, PAGE_SIZE } from '../../api/endpoints.ts';

/** The figures are sums over 24 hours and change slowly: with the default interval they are read about once an hour. */
export const POLLS_PER_PERFORMANCE = 9;

/** Requests of the parts in a poll, the rare ones as a mean. */
export function requestsPerStatusPoll(validators: number): { readonly status: number; readonly performance: number } {
  return {
    status: Math.ceil(validators / PAGE_SIZE),
    performance: Math.ceil(validators / IDENTIFIERS_OF_AGGREGATE[0]) / POLLS_PER_PERFORMANCE,
  };
}
