import { readFile } from 'node:fs/promises';
import { chainFindings } from './chains.ts';
import { type Config, configOf } from './config.ts';
import { readDocument } from './document.ts';
import type { Environment } from './environment.ts';
import { type Exposure, exposedFiles, exposedHosts } from './exposure.ts';
import { findKey } from './key.ts';
import { locate } from './locate.ts';
import { ConfigError, type Finding, pathText, readFailure, schemaFindings } from './mistakes.ts';
import { type Override, override, withoutKey } from './override.ts';
import { findProxies, type Proxies } from './proxies.ts';
import { ConfigFile } from './schema.ts';

export interface Given {
  /** Path of the config file; without one the defaults hold. */
  readonly file?: string | undefined;
  readonly overrides?: readonly Override[];
  readonly env: Environment;
  /** For programs that ask nobody for anything: whatever is said about a key is passed over. */
  readonly keyless?: boolean;
}

export interface Loaded {
  readonly config: Config;
  /** Undefined where none is given, and for keyless programs. */
  readonly key: string | undefined;
  /** How others can get the key; empty for keyless programs. */
  readonly exposures: readonly Exposure[];
  /** Absent where the environment names none, and for keyless programs, which ask nobody else. */
  readonly proxies?: Proxies;
}

/**
 * Reads the configuration from file, environment and flags.
 * @throws ConfigError with every mistake at once.
 */
export async function loadConfig({ file, overrides = [], env, keyless = false }: Given): Promise<Loaded> {
  const document = readDocument(file === undefined ? '' : await readConfigFile(file), env);
  const value = override(keyless ? withoutKey(document.value) : document.value, overrides);
  const parsed = ConfigFile.safeParse(value);
  const { key, findings } = keyless ? { key: undefined, findings: [] } : await findKey(value, env);
  const outside = keyless ? { proxies: undefined, findings: [] } : findProxies(env);
  const mistakes = locate(file ?? '', document, [
    ...document.findings.filter((finding) => !(keyless && isAboutKey(finding))),
    ...schemaFindings(parsed.error?.issues ?? [], value, override(document.written, overrides)).map((finding) =>
      attribute(finding, overrides),
    ),
    ...chainFindings(value),
    ...findings,
    ...outside.findings,
  ]);
  if (mistakes.length > 0 || !parsed.success) throw new ConfigError(mistakes);
  const config = configOf(parsed.data);
  const files = keyless ? [] : await exposedFiles(file, document.written, value);
  const exposures = keyless ? [] : [...files, ...exposedHosts(config, outside.proxies)];
  return { config, key, exposures, ...(outside.proxies && { proxies: outside.proxies }) };
}

async function readConfigFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ConfigError([{ place: file, path: '', message: `cannot be read: ${readFailure(error)}` }]);
  }
}

function isAboutKey({ path: [section, field] }: Finding): boolean {
  return section === 'api' && (field === 'key' || field === 'key_file');
}

/** What is wrong with a value that a flag or variable gave is told with its name. */
function attribute(finding: Finding, overrides: readonly Override[]): Finding {
  const given = overrides.find(({ path }) => pathText(path) === pathText(finding.path));
  return given ? { place: given.origin, path: [], message: finding.message } : finding;
}
