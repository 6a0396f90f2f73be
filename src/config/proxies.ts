import type { Proxies } from '../toolkit/lib/proxies.ts';
import { type Environment, nonEmpty } from '../toolkit/yaml/document.ts';
import type { Finding } from '../toolkit/yaml/mistakes.ts';

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
