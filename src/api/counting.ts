import type { Api } from './client.ts';

/** The same API, and how many requests were made through it so far. */
export interface CountingApi {
  readonly api: Api;
  readonly requests: () => number;
}

export function countingApi(api: Api): CountingApi {
  let requests = 0;
  const counting: Api = {
    ...api,
    request(...call) {
      requests += 1;
      return api.request(...call);
    },
  };
  return { api: counting, requests: () => requests };
}
