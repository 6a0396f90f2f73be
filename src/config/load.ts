import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import type * as z from 'zod';
import { CHAIN_NAMES, type Chain } from '../facts/chain.ts';
import type { ConfigSection } from '../facts/fields.ts';
import { invisibleIn } from '../toolkit/lib/text.ts';
import type { WebConfig } from '../toolkit/web/web-config.ts';
import { type Environment, nonEmpty, readDocument } from '../toolkit/yaml/document.ts';
import { either } from '../toolkit/yaml/fields.ts';
import {
  ConfigError,
  type Finding,
  locate,
  type Mistake,
  pathText,
  readFailure,
  readOrRefuse,
  schemaFindings,
  show,
} from '../toolkit/yaml/mistakes.ts';
import { type Override, override } from '../toolkit/yaml/override.ts';
import { valueAt, valuesAt } from '../toolkit/yaml/value-at.ts';
import type { CommonConfig } from './config.ts';
import { doubtsIn } from './doubts.ts';
import { findKey, HOW_TO_GIVE_A_KEY, KEY_FILE_VARIABLE, KEY_VARIABLE, withoutKey } from './key.ts';

export interface LoadOptions {
  /** Path of the config file; without one there are only defaults. */
  readonly file?: string | undefined;
  readonly overrides?: readonly Override[];
  readonly env: Environment;
  readonly hostname?: string;
  /** Whether to ignore everything that is configured about a key. Otherwise a key is required. */
  readonly keyless?: boolean;
  /** Whether to ignore proxies. Default: as `keyless`. */
  readonly isOffline?: boolean;
}

export interface Loaded<C> {
  readonly config: C;
  /** Absent where the configuration names none. */
  readonly webConfig?: WebConfig | undefined;
  /** Empty if `keyless`. */
  readonly key: string;
  /** Settings that are valid but do not work as intended, or let others get the key. */
  readonly warnings: readonly Mistake[];
  /** Absent if the environment names none, or if `isOffline`. */
  readonly proxies?: ReturnType<typeof findProxies>['proxies'];
}

/**
 * Reads the configuration from file, environment and flags.
 * @throws ConfigError with every mistake at once.
 */
export async function load<C extends CommonConfig>(
  schema: z.ZodType<C>,
  sections: readonly ConfigSection<C>[],
  { file, env, keyless = false, isOffline = keyless, ...given }: LoadOptions,
): Promise<Loaded<C>> {
  const keyFile = keyless ? undefined : nonEmpty(env, KEY_FILE_VARIABLE);
  const overrides = [...(given.overrides ?? [])];
  if (keyFile) overrides.push({ path: ['api', 'key_file'], value: keyFile, origin: KEY_FILE_VARIABLE });
  const document = readDocument(file === undefined ? '' : await readOrRefuse(file), env);
  const inFile = keyless || keyFile ? withoutKey(document.value) : document.value;
  // Paths of the file are relative to the file, those of flags and variables to the working directory.
  const folder = file === undefined ? process.cwd() : resolve(dirname(file));
  const written = withAbsolutePaths(override(withAbsolutePaths(inFile, folder), overrides), process.cwd());
  const { value, findings: fileFindings } = await withFiles(written, folder, sections);
  const parsed = schema.safeParse(value, { jitless: true });
  const { key, findings } = await findKey(value, keyless ? {} : env, keyFile ?? valueAt(inFile, ['api', 'key_file']));
  const { proxies, findings: proxyFindings } = findProxies(isOffline ? {} : env);
  const { mistakes: webMistakes, findings: webFindings, ...web } = await readWeb(value);
  const inValues = [
    ...schemaFindings(parsed, value, override(document.written, overrides)),
    ...chainFindings(value, sections),
    ...PATHS.flatMap((path) => hiddenFindings(value, path)),
    ...(parsed.success ? sections.flatMap((one) => one.findings?.(parsed.data) ?? []) : []),
    ...fileFindings,
    ...webFindings,
    ...findings,
    ...proxyFindings,
  ];
  const all = [
    ...document.findings.filter((finding) => !(keyless && isAboutKey(finding))),
    ...inValues.map((finding) => attribute(finding, overrides)),
  ];
  // If the file is not valid YAML, it may still contain the key, so a missing key is not reported.
  const isMissing = !keyless && key === undefined && document.value !== undefined && !all.some(isAboutKey);
  const noKey = isMissing ? [{ place: '', path: '', message: HOW_TO_GIVE_A_KEY }] : [];
  const mistakes = [...locate(file ?? '', all, document.lineOf), ...webMistakes, ...noKey];
  if (mistakes.length > 0 || !parsed.success) throw new ConfigError(mistakes);
  const config = parsed.data;
  const host = { name: given.hostname ?? hostname(), isPod: env['KUBERNETES_SERVICE_HOST'] !== undefined };
  const ofSources = sections.flatMap((one) => one.doubts?.(config) ?? []);
  const doubts = [...document.doubts, ...colonDoubts(value, sections), ...doubtsIn(config, ofSources, keyless, host)];
  const warnings = locate(file ?? '', doubts, document.lineOf);
  return { config, key: key ?? '', warnings, proxies, ...web };
}

/** The settings that hold the path of a file or a directory. */
const PATHS: readonly Override['path'][] = [
  ['api', 'key_file'],
  ['state', 'dir'],
  ['web', 'config_file'],
];

/** A path with invisible characters, as from a copy. The message does not show it: it may be a misplaced key. */
function hiddenFindings(document: unknown, path: Override['path']): Finding[] {
  const hidden = invisibleIn(String(valueAt(document, path)));
  return hidden === undefined ? [] : [{ path, message: `expected the path of a file or directory; ${hidden}` }];
}

function withAbsolutePaths(document: unknown, folder: string): unknown {
  const absolute = PATHS.flatMap((path): Override[] => {
    const value = valueAt(document, path);
    return typeof value === 'string' && value !== '' ? [{ path, value: resolve(folder, value), origin: '' }] : [];
  });
  return override(document, absolute);
}

/** The document with the contents of files in place of their paths. The schema reports what is no path. */
async function withFiles(
  document: unknown,
  folder: string,
  sections: readonly Pick<ConfigSection, 'files'>[],
): Promise<{ value: unknown; findings: readonly Finding[] }> {
  const findings: Finding[] = [];
  let value = document;
  for (const { files } of sections) {
    const listed = files && valueAt(document, files.path);
    if (!files || !Array.isArray(listed)) continue;
    const contents = listed.map(async (name: unknown, i) => {
      if (typeof name !== 'string' || name === '') return name;
      const file = resolve(folder, name);
      try {
        const { content, findings: inside } = await files.read(file, configuredChains(document).length);
        findings.push(...inside);
        return content;
      } catch (error) {
        findings.push({ path: [...files.path, i], message: `the file ${file} ${readFailure(error)}` });
        return name;
      }
    });
    value = override(value, [{ path: files.path, value: await Promise.all(contents), origin: '' }]);
  }
  return { value, findings };
}

function configuredChains(document: unknown): Chain[] {
  const chains = valueAt(document, ['chains']) ?? { mainnet: {} };
  return CHAIN_NAMES.filter((name) => valueAt(chains, [name]) !== undefined);
}

/** The web config file, or its mistakes. If it cannot be read, the mistake is in the setting that names it. */
async function readWeb(
  document: unknown,
): Promise<{ webConfig?: WebConfig; findings: Finding[]; mistakes: readonly Mistake[] }> {
  const path = ['web', 'config_file'];
  const file = valueAt(document, path);
  const none = { findings: [], mistakes: [] };
  if (typeof file !== 'string' || file === '') return none;
  const { readWebConfig } = await import('../toolkit/web/web-config.ts');
  try {
    return { ...none, webConfig: await readWebConfig(file) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { mistakes } = error;
    const [first] = mistakes;
    if (!first || first.line !== undefined || first.path !== '') return { ...none, mistakes };
    return { ...none, findings: [{ path, message: `the file ${first.place} ${first.message}` }] };
  }
}

/** Names of machines with a colon: the service drops the colon and what follows (api-facts 1.1). */
function colonDoubts(document: unknown, sections: readonly Pick<ConfigSection, 'machineNames'>[]): Finding[] {
  const names = sections
    .flatMap((one) => one.machineNames ?? [])
    .flatMap((path) => valuesAt(document, path.split('.')));
  return names.flatMap(({ path, value }) => {
    const [kept, dropped] = String(value).split(':');
    const message = `${show(value)} never matches, because the service drops a colon and what follows: expected "${kept}"`;
    return dropped === undefined ? [] : [{ path, message }];
  });
}

/**
 * References to chains that are not configured, and a list with indices that does not name its chain. The schema does not
 * look for them: it reports nothing about other sections while one section has mistakes.
 */
function chainFindings(document: unknown, sections: readonly ConfigSection[]): Finding[] {
  const configured = configuredChains(document);
  const at = (pattern: string) => valuesAt(document, pattern.split('.'));
  const lists = sections.flatMap((one) => one.lists ?? []);
  const references = [
    ...sections.flatMap((one) => one.chains ?? []).flatMap(at),
    ...lists.flatMap((list) => at(`${list}.*`)).map(({ path }) => ({ path, value: path.at(-1) })),
  ];
  // The schema reports names that are not chains, and a list of chains without any.
  const others = CHAIN_NAMES.filter((name) => configured.length > 0 && !configured.includes(name));
  const expected = `expected a chain that is configured (${either(configured)})`;
  const findings = references
    .filter(({ value }) => others.some((other) => other === value))
    .map(({ path, value }) => ({ path, message: `${expected}, got ${show(value)}` }));
  if (configured.length < 2) return findings;
  const example = `{${configured.map((chain) => `${chain}: [...]`).join(', ')}}`;
  const message = `expected one list per chain: ${example}, because several chains are configured`;
  const isOfChain = (item: unknown): boolean => !/^0x/i.test(String(item));
  const ofNoChain = lists.flatMap(at).filter(({ value }) => Array.isArray(value) && value.some(isOfChain));
  return [...findings, ...ofNoChain.map(({ path }) => ({ path, message }))];
}

/** Findings show no value: it may hold a password. */
export function findProxies(env: Environment) {
  const findings: Finding[] = [];
  // Lower case first, as in curl.
  const nameOf = (lower: string) => [lower, lower.toUpperCase()].find((variable) => nonEmpty(env, variable));
  const read = (lower: string): string => {
    const name = nameOf(lower);
    const url = name === undefined ? '' : proxyUrl(env[name] ?? '');
    if (url !== undefined) return url;
    const message =
      'expected the URL of an HTTP proxy such as http://proxy.example:3128, with user and password percent-encoded';
    findings.push({ path: [], ...(name && { place: name }), message });
    return '';
  };
  const except = env[nameOf('no_proxy') ?? ''] ?? '';
  const [http, https] = [read('http_proxy'), read('https_proxy')];
  return { proxies: http || https ? { http, https, except } : undefined, findings };
}

/** The default scheme is http. Undefined: not the URL of an HTTP proxy. */
function proxyUrl(text: string): string | undefined {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  // A password with an unencoded / ? or #: its beginning would become the port, its rest the path.
  if (`${url.pathname}${url.search}${url.hash}`.includes('@')) return undefined;
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    return undefined;
  }
  return new URL('/', url).href;
}

function isAboutKey({ place, path: [section, field] }: Finding): boolean {
  if (place === KEY_VARIABLE || place === KEY_FILE_VARIABLE) return true;
  return section === 'api' && (field === 'key' || field === 'key_file');
}

/** A mistake in a value from a flag or variable names the flag or variable instead of the file. */
function attribute(finding: Finding, overrides: readonly Override[]): Finding {
  const overridden = overrides.find(({ path }) => pathText(path) === pathText(finding.path.slice(0, path.length)));
  return overridden ? { place: overridden.origin, path: [], message: finding.message } : finding;
}
