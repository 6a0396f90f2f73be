import { dirname, resolve } from 'node:path';
import type { Proxies } from '../toolkit/lib/proxies.ts';
import { type Environment, nonEmpty, readDocument } from '../toolkit/yaml/document.ts';
import {
  ConfigError,
  type Finding,
  locate,
  type Mistake,
  pathText,
  readOrRefuse,
  schemaFindings,
} from '../toolkit/yaml/mistakes.ts';
import { type Override, override } from '../toolkit/yaml/override.ts';
import { valueAt } from '../toolkit/yaml/value-at.ts';
import { chainFindings } from './chains.ts';
import { type Config, ConfigFile } from './config.ts';
import { doubtsIn } from './doubts.ts';
import { exposedFiles, exposedHosts } from './exposure.ts';
import { groupFindings } from './groups.ts';
import { findKey, HOW_TO_GIVE_A_KEY, KEY_FILE_VARIABLE, KEY_VARIABLE, withoutKey } from './key.ts';
import { redisTlsFindings, withAbsolutePaths } from './paths.ts';
import { findProxies } from './proxies.ts';

export interface LoadOptions<W> {
  /** Path of the config file; without one there are only defaults. */
  readonly file?: string | undefined;
  readonly overrides?: readonly Override[];
  readonly env: Environment;
  /** For programs that send no requests: whatever is configured about a key is ignored. */
  readonly keyless?: boolean;
  /** A missing key is a mistake. */
  readonly needsKey?: boolean;
  /** Reads the web config file. @throws ConfigError */
  readonly readWebConfig?: (file: string) => Promise<W>;
}

export interface LoadedConfig<W = unknown> {
  readonly config: Config;
  /** Absent where the configuration names none, and where nothing reads it. */
  readonly webConfig?: W;
  /** Undefined where none is given, and for keyless programs. */
  readonly key: string | undefined;
  /** Settings that are valid but do not work as intended, or let others get the key. */
  readonly warnings: readonly Mistake[];
  /** Absent where the environment names none, and for keyless programs. */
  readonly proxies?: Proxies;
}

/**
 * Reads the configuration from file, environment and flags.
 * @throws ConfigError with every mistake at once.
 */
export async function loadConfig<W>(options: LoadOptions<W>): Promise<LoadedConfig<W>> {
  const { file, env, keyless = false } = options;
  const keyFile = keyless ? undefined : nonEmpty(env, KEY_FILE_VARIABLE);
  const overrides = [...(options.overrides ?? [])];
  if (keyFile) overrides.push({ path: ['api', 'key_file'], value: keyFile, origin: KEY_FILE_VARIABLE });
  const document = readDocument(file === undefined ? '' : await readOrRefuse(file), env);
  const given = keyless || keyFile ? withoutKey(document.value) : document.value;
  // Paths of the file are relative to the file, those of flags and variables to the working directory.
  const folder = file === undefined ? process.cwd() : resolve(dirname(file));
  const value = withAbsolutePaths(override(withAbsolutePaths(given, folder), overrides), process.cwd());
  const parsed = ConfigFile.safeParse(value, { jitless: true });
  // For programs that send no requests, the related environment variables are ignored too.
  const requestEnv = keyless ? {} : env;
  const { key, findings } = await findKey(value, requestEnv);
  const proxied = findProxies(requestEnv);
  const { mistakes: webMistakes, findings: webFindings, ...web } = await readWeb(value, options);
  const attributed = (finding: Finding): Finding => attribute(finding, overrides);
  const all = [
    ...document.findings.filter((finding) => !(keyless && isAboutKey(finding))),
    ...schemaFindings(parsed, value, override(document.written, overrides)).map(attributed),
    ...chainFindings(value),
    ...(parsed.success ? groupFindings(parsed.data.groups) : []),
    ...(keyless ? [] : await redisTlsFindings(value)),
    ...webFindings.map(attributed),
    ...findings.map(attributed),
    ...proxied.findings,
  ];
  // If the file is not valid YAML, it may still contain the key, so a missing key is not reported.
  const isMissing = options.needsKey && key === undefined && document.value !== undefined && !all.some(isAboutKey);
  const noKey = isMissing ? [{ place: '', path: '', message: HOW_TO_GIVE_A_KEY }] : [];
  const mistakes = [...locate(file ?? '', all, document.positionOf), ...webMistakes, ...noKey];
  if (mistakes.length > 0 || !parsed.success) throw new ConfigError(mistakes);
  const config = parsed.data;
  const exposures = keyless ? [] : [...(await exposedFiles(file, document.written, value)), ...exposedHosts(config)];
  const warnings = [doubtsIn(config), exposures.map(attributed)].flatMap((found) =>
    locate(file ?? '', found, document.positionOf),
  );
  return { config, key, warnings, ...web, ...(proxied.proxies && { proxies: proxied.proxies }) };
}

/** The web config file, or its mistakes. If it cannot be read, the mistake is in the setting that names it. */
async function readWeb<W>(
  document: unknown,
  { readWebConfig }: LoadOptions<W>,
): Promise<{ webConfig?: W; findings: Finding[]; mistakes: readonly Mistake[] }> {
  const path = ['web', 'config_file'];
  const file = valueAt(document, path);
  const none = { findings: [], mistakes: [] };
  if (typeof file !== 'string' || file === '' || !readWebConfig) return none;
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

function isAboutKey({ place, path: [section, field] }: Finding): boolean {
  if (place === KEY_VARIABLE || place === KEY_FILE_VARIABLE) return true;
  return section === 'api' && (field === 'key' || field === 'key_file');
}

/** A mistake in a value from a flag or variable names the flag or variable instead of the file. */
function attribute(finding: Finding, overrides: readonly Override[]): Finding {
  const overridden = overrides.find(({ path }) => pathText(path) === pathText(finding.path.slice(0, path.length)));
  return overridden ? { place: overridden.origin, path: [], message: finding.message } : finding;
}
