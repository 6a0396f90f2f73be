import { type Finding, notBoth } from '../config/mistakes.ts';
import { valueAt } from '../config/value-at.ts';
import { isObject } from '../lib/is-object.ts';
import { HTTP2_SUITES, suiteNames, VERSIONS } from './tls-names.ts';

const SECTION = 'tls_server_config';

/** Keys for the same thing as text and as a file. */
const TEXT_OR_FILE = [
  ['cert', 'cert_file'],
  ['key', 'key_file'],
  ['client_ca', 'client_ca_file'],
] as const;

const ORDER = Object.keys(VERSIONS);

/** Contradictions between keys. Reads the document before the schema does, so that all mistakes are reported together. */
export function tlsFindings(document: unknown): Finding[] {
  const tls = valueAt(document, [SECTION]);
  if (!isObject(tls)) return [];
  const given = Object.keys(tls).filter((key) => isGiven(valueAt(tls, [key])));
  const has = (key: string): boolean => given.includes(key);
  const asksNobody = !has('client_auth_type') || valueAt(tls, ['client_auth_type']) === 'NoClientCert';
  const at = (key: string, message: string): Finding => ({ path: [SECTION, key], message });
  return [
    // An empty section is plain HTTP; one that has only an empty cert_file is a mistake.
    ...(Object.keys(tls).length === 0
      ? []
      : TEXT_OR_FILE.slice(0, 2)
          .filter(([text, file]) => !has(text) && !has(file))
          .map(([text, file]) => at(text in tls ? text : file, `missing one of ${text} or ${file}`))),
    ...TEXT_OR_FILE.filter(([text, file]) => has(text) && has(file)).map(([text, file]) => at(file, notBoth(text))),
    ...['client_ca', 'client_ca_file', 'client_allowed_sans']
      .filter((key) => has(key) && asksNobody)
      .map((key) =>
        at(
          key,
          'clients are not asked for a certificate: set client_auth_type, for example to RequireAndVerifyClientCert',
        ),
      ),
    ...versionFindings(tls),
    ...http2Findings(document),
  ];
}

function isGiven(value: unknown): boolean {
  return value !== null && value !== '' && value !== undefined;
}

function versionFindings(tls: object): Finding[] {
  const [min = 'TLS12', max = 'TLS13'] = ['min_version', 'max_version'].map(
    (key) => valueAt(tls, [key]) as string | undefined,
  );
  if (!ORDER.includes(min) || !ORDER.includes(max) || ORDER.indexOf(min) <= ORDER.indexOf(max)) return [];
  const key = 'max_version' in tls ? 'max_version' : 'min_version';
  return [{ path: [SECTION, key], message: `no TLS version is allowed: the minimum is ${min}, the maximum ${max}` }];
}

/** exporter-toolkit does not start with such a file, so other exporters could not use it. */
function http2Findings(document: unknown): Finding[] {
  const suites = valueAt(document, [SECTION, 'cipher_suites']);
  const isOff = valueAt(document, ['http_server_config', 'http2']) === false;
  const isNew = valueAt(document, [SECTION, 'min_version']) === 'TLS13';
  if (!Array.isArray(suites) || suites.length === 0 || isOff || isNew) return [];
  const known = suiteNames();
  if (suites.some((suite) => HTTP2_SUITES.includes(suite) || !known.includes(suite))) return [];
  const message = `HTTP/2 needs one of ${HTTP2_SUITES.join(', ')}: add one, or set http_server_config.http2 to false`;
  return [{ path: [SECTION, 'cipher_suites'], message }];
}
