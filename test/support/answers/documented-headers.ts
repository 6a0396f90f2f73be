/** The sample of the public documentation, free plan (api-facts 6.1). */
export const DOCUMENTED_HEADERS = {
  'ratelimit-limit': '1',
  'ratelimit-remaining': '0',
  'ratelimit-reset': '1',
  'ratelimit-window': 'second',
  'ratelimit-bucket': 'default',
  'ratelimit-validapikey': 'true',
  'x-ratelimit-limit-second': '1',
  'x-ratelimit-limit-minute': '1000',
  'x-ratelimit-limit-hour': '1000',
  'x-ratelimit-limit-day': '1000',
  'x-ratelimit-limit-month': '1000',
  'x-ratelimit-remaining-second': '0',
  'x-ratelimit-remaining-minute': '972',
  'x-ratelimit-remaining-hour': '972',
  'x-ratelimit-remaining-day': '972',
  'x-ratelimit-remaining-month': '972',
};
