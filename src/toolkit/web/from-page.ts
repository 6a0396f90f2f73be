import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a page in a browser sends this request. A page can POST to any address, even if it cannot read the response,
 * and its origin is not evidence: an attacker's name can resolve to us, and then Origin, Host and Sec-Fetch-Site all say
 * that the page is our own. No page of ours sends an order, so every page is refused. Programs send neither header, and
 * a browser sends `none` for what its user typed.
 */
export function isFromPage({ origin, 'sec-fetch-site': site = 'none' }: IncomingHttpHeaders): boolean {
  return origin !== undefined || site !== 'none';
}
