/** An error response (api-facts 7.3). The message is the v1 text, or replaces the v2 one. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message = '') {
    super(message);
    this.status = status;
  }
}

const V2_MESSAGES: Readonly<Record<number, string>> = {
  400: 'Bad request. Please check your input and try again.',
  401: 'Unauthorized. Please provide a valid API key.',
  403: 'endpoint not allowed for your subscription tier; upgrade your subscription at https://beaconcha.in/pricing.',
  404: 'The requested resource was not found.',
  429: 'Rate limit exceeded. Please try again later.',
};

export function errorBody(isV1: boolean, status: number, message = ''): string {
  if (isV1) return JSON.stringify({ status: `ERROR: ${message || 'not found'}`, data: null });
  return JSON.stringify({ error: message || V2_MESSAGES[status] });
}
