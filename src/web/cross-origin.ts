import type { IncomingHttpHeaders } from 'node:http';

/** What a browser says of a page that is ours, or of a request that no page made. */
const OWN_SITES = ['same-origin', 'none'];

/**
 * Whether a browser sends this for a page of another origin, which may send a POST to any address and need not be able to
 * read the answer. Other programs send neither header.
 */
export function isCrossOrigin(headers: IncomingHttpHeaders): boolean {
  const { host, origin, 'sec-fetch-site': site } = headers;
  if (site !== undefined && !OWN_SITES.includes(String(site))) return true;
  return origin !== undefined && !isOriginOf(origin, host);
}

/** By host and port: the scheme may be that of a proxy that ends TLS before us. */
function isOriginOf(origin: string, host: string | undefined): boolean {
  const own = URL.parse(origin);
  return own !== null && own.host !== '' && own.host === URL.parse(`${own.protocol}//${host}`)?.host;
}
