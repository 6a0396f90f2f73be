import * as z from 'zod';
import { hasCode } from '../toolkit/lib/error-code.ts';
import { isObject } from '../toolkit/lib/is-object.ts';
import { invisibleIn } from '../toolkit/lib/text.ts';
import { readText } from '../toolkit/state/whole-file.ts';
import { type Environment, nonEmpty } from '../toolkit/yaml/document.ts';
import { type Finding, notBoth, readFailure } from '../toolkit/yaml/mistakes.ts';
import { valueAt } from '../toolkit/yaml/value-at.ts';

// Messages never show the key, or a file name that may be a misplaced key.

export const KEY_VARIABLE = 'BEACONCHAIN_API_KEY';
/** Overrides every key of the config file. */
export const KEY_FILE_VARIABLE = 'BEACONCHAIN_API_KEY_FILE';
const RULE = 'an API key of printable ASCII characters without spaces';
const ALONE = 'only the key, without quotes and without a variable name';

export const HOW_TO_GIVE_A_KEY = `no API key: set ${KEY_VARIABLE} or ${KEY_FILE_VARIABLE}, or api.key or api.key_file in the file that --config.file names; the demo command needs no key`;

/** The characters that a header may contain. */
const KEY = /^[\x21-\x7e]+$/;
/** As in a line of a shell script or of a .env file. */
const QUOTED_OR_ASSIGNED = /^(["'].*["']|[A-Z][A-Z_]*=[^=].*)$/;

/** Left from an example, or the name of the variable in place of its value. */
const PLACEHOLDER = /^<.*>$|^\$\w+$|^(beaconchain_)?api_?key$|^your[\w-]*key$|^change[-_]?me$|^[x.*]{3,}$/i;
/** No key begins or ends like this. */
const PATH = /^(~|\.{1,2})\/|^\/(config|data|etc|home|mnt|opt|root|run|secrets?|srv|tmp|usr|var)\/|\.(key|txt)$/;

/** What was expected instead of this text; undefined: it can be a key. */
function expectedKey(text: string): string | undefined {
  if (!KEY.test(text)) return RULE;
  if (PLACEHOLDER.test(text)) return 'the API key of your account at beaconcha.in, got a placeholder';
  if (PATH.test(text)) return `the API key itself, got a path: set it as api.key_file or ${KEY_FILE_VARIABLE}`;
  return QUOTED_OR_ASSIGNED.test(text) ? ALONE : undefined;
}

/** The same, and the invisible characters of the text, which mistakes of the schema name anyway. */
function whyNoKey(text: string): string | undefined {
  const expected = expectedKey(text);
  return expected && [expected, text === '' ? 'it is empty' : invisibleIn(text)].filter(Boolean).join('; ');
}

export const ApiKey = z
  .custom<string>((value) => typeof value === 'string' && expectedKey(value.trim()) === undefined, {
    error: ({ input }) => {
      if (input === '') return 'the key is empty';
      return `expected ${(typeof input === 'string' ? expectedKey(input.trim()) : undefined) ?? RULE}`;
    },
  })
  .meta({ type: 'string', pattern: '^\\s*[\\x21-\\x7e]+\\s*$' });

export const ApiKeyFile = z
  .custom<string>((value) => typeof value === 'string' && value !== '', {
    error: 'expected the path of a file that contains the API key',
  })
  .meta({ type: 'string', minLength: 1 });

/** The key, from the environment before the config file; undefined where none is given. @param typed The key file */
export async function findKey(
  document: unknown,
  env: Environment,
  typed: unknown,
): Promise<{ key: string | undefined; findings: Finding[] }> {
  const inline = valueAt(document, ['api', 'key']);
  const file = valueAt(document, ['api', 'key_file']);
  const variable = nonEmpty(env, KEY_VARIABLE)?.trim();
  const findings: Finding[] = [];
  if (inline !== undefined && file !== undefined) {
    findings.push({ path: ['api', 'key_file'], message: notBoth('api.key') });
  }
  if (variable && nonEmpty(env, KEY_FILE_VARIABLE))
    findings.push({ place: KEY_FILE_VARIABLE, path: [], message: notBoth(KEY_VARIABLE) });
  const expected = variable && whyNoKey(variable);
  if (expected) findings.push({ place: KEY_VARIABLE, path: [], message: `expected ${expected}` });
  if (variable || findings.length > 0) return { key: variable, findings };
  if (ApiKeyFile.safeParse(file).success) return readKeyFile(String(file), PATH.test(String(typed)));
  return { key: typeof inline === 'string' ? inline.trim() : undefined, findings };
}

async function readKeyFile(file: string, isPath: boolean): Promise<{ key: string | undefined; findings: Finding[] }> {
  const refuse = (message: string) => ({ key: undefined, findings: [{ path: ['api', 'key_file'], message }] });
  let text: string;
  try {
    text = await readText(file);
  } catch (error) {
    const failure = `the file ${isPath ? `${file} ` : ''}${readFailure(error)}`;
    if (isPath || !hasCode(error, 'ENOENT')) return refuse(failure);
    return refuse(`${failure}; its name is not shown, because it may be the key, which belongs in api.key`);
  }
  const key = text.trim();
  const expected = whyNoKey(key);
  return expected === undefined ? { key, findings: [] } : refuse(`expected ${file} to contain ${expected}`);
}

export function withoutKey(document: unknown): unknown {
  if (!isObject(document) || !isObject(document['api'])) return document;
  const { key: _key, key_file: _file, ...api } = document['api'];
  return { ...document, api };
}
