/** The most rows of a page, and so the most identifiers whose rows come in one answer (api-facts 10). */
export const IDENTIFIERS = 10;

/** The most identifiers of a request for the performance: of paid plans, and of all plans (api-facts 10). */
export const IDENTIFIERS_OF_PERFORMANCE = [100, 20] as const;

/** The figures are sums over 24 hours and change slowly: with the default interval they are read about once an hour. */
export const POLLS_PER_PERFORMANCE = 9;

/** Requests of the parts in a poll, the rare ones as a mean. */
export function requestsPerStatusPoll(validators: number): { readonly status: number; readonly performance: number } {
  return {
    status: Math.ceil(validators / IDENTIFIERS),
    performance: Math.ceil(validators / IDENTIFIERS_OF_PERFORMANCE[0]) / POLLS_PER_PERFORMANCE,
  };
}
