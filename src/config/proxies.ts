import type { Proxies } from '../lib/proxies.ts';
import { type Environment, nonEmpty } from './environment.ts';
import type { Finding } from './mistakes.ts';

/** Lower case first, as in curl. */
const VARIABLES = {
  http: ['http_proxy', 'HTTP_PROXY'],
  https: ['https_proxy', 'HTTPS_PROXY'],
  except: ['no_proxy', 'NO_PROXY'],
} as const;

/** The proxies; undefined where none is named. No finding shows a value: it may hold a password. */
export function findProxies(env: Environment): { proxies: Proxies | undefined; findings: Finding[] } {
  const findings: Finding[] = [];
  const read = (which: 'http' | 'https'): string => {
    const name = VARIABLES[which].find((variable) => nonEmpty(env, variable) !== undefined);
    const url = name === undefined ? '' : proxyUrl(env[name] ?? '');
    if (url !== undefined) return url;
    const message = 'expected the URL of an HTTP proxy such as http://proxy.example:3128';
    findings.push({ path: [], ...(name && { place: name }), message });
    return '';
  };
  const [lower, upper] = VARIABLES.except;
  const except = nonEmpty(env, lower) ?? nonEmpty(env, upper) ?? '';
  const [http, https] = [read('http'), read('https')];
  return { proxies: http || https ? { http, https, except } : undefined, findings };
}

/** The proxy through which undici's agent asks a http URL; undefined: it asks directly. */
export function proxyOf(url: URL, { http, except }: Proxies): URL | undefined {
  return http === '' || isExcepted(url, except) ? undefined : new URL(http);
}

/** Follows the rules of undici's agent, which does not say beforehand what it will do. */
function isExcepted({ hostname, port }: URL, except: string): boolean {
  const host = withoutBrackets(hostname).replace(/(.)\.$/, '$1');
  return except
    .toLowerCase()
    .split(/[,\s]/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, named = entry, only = ''] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
      if (only !== '' && Number(only) !== Number(port || '80')) return false;
      const name = withoutBrackets(named)
        .replace(/^\*?\./, '')
        .replace(/(.)\.$/, '$1');
      return name === '*' || host.endsWith(`.${name}`) || (host === name && !entry.startsWith('*'));
    });
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.+)\]$/, '$1');
}

/** Without a scheme it is http. Undefined: it is not the URL of an HTTP proxy. */
function proxyUrl(text: string): string | undefined {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  // A password with a / ? or # that is not percent-encoded: its beginning would be the port, its rest the path.
  if (`${url.pathname}${url.search}${url.hash}`.includes('@')) return undefined;
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    return undefined;
  }
  return new URL('/', url).href;
}
