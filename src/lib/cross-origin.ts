import type { IncomingHttpHeaders } from 'node:http';

/** The values of Sec-Fetch-Site that a browser sends for our own page, or for a request that no page made. */
const OWN_SITES = ['same-origin', 'none'];

/**
 * Whether a browser sends this request for a page of another origin. Such a page can POST to any address, even if it
 * cannot read the response. Programs other than browsers send neither header.
 */
export function isCrossOrigin(headers: IncomingHttpHeaders): boolean {
  const { host, origin, 'sec-fetch-site': site } = headers;
  if (site !== undefined && !OWN_SITES.includes(String(site))) return true;
  return origin !== undefined && !isOriginOf(origin, host);
}

/** Compares host and port only, because a proxy in front of us may terminate TLS. */
function isOriginOf(origin: string, host: string | undefined): boolean {
  const own = URL.parse(origin);
  return own !== null && own.host !== '' && own.host === URL.parse(`${own.protocol}//${host}`)?.host;
}
