import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type YAMLError,
} from 'yaml';
import { type Finding, show } from './mistakes.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const NAME = /^[A-Za-z_]\w*$/;

/** The value of a variable. An empty one counts as unset, because compose files pass on unset variables as empty. */
export function nonEmpty(env: Environment, name: string): string | undefined {
  return env[name] || undefined;
}

type Path = readonly PropertyKey[];

/** A config file as plain values, with their lines in the file. */
export interface ConfigDocument {
  /** With environment variables replaced; undefined if the YAML cannot be read. */
  readonly value: unknown;
  /** The same before environment variables were replaced. */
  readonly written: unknown;
  readonly findings: readonly Finding[];
  /** Valid values that are probably mistakes. */
  readonly doubts: readonly Finding[];
  /** The line of a finding, or of as much of its path as exists below the root. */
  lineOf(finding: Finding): number | undefined;
}

/**
 * Reads YAML. With duplicate keys there is still a value, which is checked for more mistakes; with broken syntax there
 * is none.
 * @param env Values of the variables; without it `${NAME}` is plain text.
 */
export function readDocument(text: string, env?: Environment): ConfigDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    // A long hexadecimal number stays text: as a number it would be shown as 3.5e+116.
    customTags: (tags) => tags.filter((tag) => !(typeof tag === 'object' && 'format' in tag && tag.format === 'HEX')),
  });
  // The library reports an unclosed quote or bracket after the last line.
  const end = text.trimEnd().length;
  const lineAt = (offset: number): number => lines.linePos(Math.min(offset, end)).line;
  const lineOf = ({ path, offset = offsetOf(document, path) }: Finding): number | undefined =>
    offset === undefined ? undefined : lineAt(offset);
  const { twice = [], others = [] } = Object.groupBy([...document.errors, ...document.warnings], ({ code }) =>
    code === 'DUPLICATE_KEY' ? 'twice' : 'others',
  );
  // Only the first error of each line, because other errors on the line mostly follow from it.
  const findingsOf = (errors: readonly YAMLError[]): Finding[] => {
    const findings = errors.map((error) => syntaxFinding(error, document, text));
    return [...new Map(findings.toReversed().map((finding) => [lineOf(finding), finding])).values()];
  };
  const duplicates = findingsOf(twice).map((finding) => {
    const [name] = /^[\w.-]{1,40}/.exec(text.slice(finding.offset)) ?? [];
    return name === undefined ? finding : { ...finding, message: `${finding.message}: ${name}` };
  });
  const broken = [...findingsOf(others), ...danglingAliases(document)];
  if (broken.length > 0) {
    return { value: undefined, written: undefined, findings: [...broken, ...duplicates], doubts: [], lineOf };
  }
  const doubts = spacedItems(document);
  const written: unknown = document.toJS(SHARED);
  const unset = env ? substituteAll(document, env) : [];
  return { value: document.toJS(SHARED), written, findings: [...duplicates, ...unset], doubts, lineOf };
}

/** Values behind aliases are shared, not copied, so their number needs no limit. */
const SHARED = { maxAliasCount: -1 };

/** The library's own messages quote the file, which may hold a secret. */
const SYNTAX: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  BAD_INDENT: 'the indentation does not match the surrounding lines',
  BAD_SCALAR_START: 'a text that starts with this character needs quotes',
  BLOCK_IN_FLOW: 'between brackets or braces, a comma is missing',
  BLOCK_AS_IMPLICIT_KEY:
    'a key is not allowed here: it may be indented too far, or a text that contains ": " may need quotes',
  DUPLICATE_KEY: 'the key is given twice',
  MISSING_CHAR: 'a quote, bracket, colon or comma is missing',
  MULTIPLE_DOCS: 'expected one document, got several',
  TAB_AS_INDENT: 'expected spaces, got a tab',
  TAG_RESOLVE_FAILED: 'unknown tag: a text that starts with ! needs quotes',
};

const NOT_YAML = 'not valid YAML: a text that contains braces or brackets needs quotes';

function syntaxFinding({ code, pos: [at] }: YAMLError, document: Document, text: string): Finding {
  const opened = code === 'BAD_INDENT' ? unclosedAt(document, text, at) : undefined;
  if (opened !== undefined) return { path: [], offset: opened, message: `this ${text[opened]} is not closed` };
  const isComma = code === 'UNEXPECTED_TOKEN' && text[at] === ',';
  return { path: [], offset: at, message: isComma ? 'a value is missing before a comma' : (SYNTAX[code] ?? NOT_YAML) };
}

/** Where the innermost bracket or brace was opened that should have been closed at this offset. */
function unclosedAt(document: Document, text: string, end: number): number | undefined {
  return [...nodesOf(document.contents)]
    .filter(({ node }) => isNode(node) && node.range?.[1] === end)
    .map(({ node }) => startOf(node) ?? end)
    .findLast((start) => /[[{]/.test(text.charAt(start)));
}

/** Without its comma, a list in brackets makes one text of two. */
function spacedItems(document: Document): Finding[] {
  return [...nodesOf(document.contents)].flatMap(({ node, path }) => {
    if (!isSeq(node) || !node.flow) return [];
    return node.items.flatMap((item, i) => {
      if (!isScalar(item) || item.type !== 'PLAIN' || !/\s/.test(String(item.value))) return [];
      const message = `${show(item.value)} is one text: put a comma between two, or quotes around one`;
      return [{ path: [...path, i], message }];
    });
  });
}

/** Every node with its path. Aliases are not followed: their nodes are visited where they are defined. */
function* nodesOf(node: unknown, path: Path = []): Generator<{ node: unknown; path: Path }> {
  yield { node, path };
  if (isMap(node)) for (const pair of node.items) yield* nodesOf(pair.value, [...path, keyOf(pair)]);
  if (isSeq(node)) for (const [i, item] of node.items.entries()) yield* nodesOf(item, [...path, i]);
}

function keyOf({ key }: Pair): string {
  return String(isScalar(key) ? key.value : key);
}

function danglingAliases(document: Document): Finding[] {
  return [...nodesOf(document.contents)]
    .filter(({ node }) => isAlias(node) && !node.resolve(document))
    .map(({ path }) => ({ path, message: 'a text that starts with * needs quotes' }));
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

function substituteAll(document: Document, env: Environment): Finding[] {
  return [...nodesOf(document.contents)].flatMap(({ node, path }) => {
    if (!isScalar(node) || typeof node.value !== 'string') return [];
    const { text, problems } = substitute(node.value, env);
    node.value = text;
    return problems.length === 0 ? [] : [{ path, message: [...new Set(problems)].join('; ') }];
  });
}

/** Replaces each `${NAME}` by the environment variable. Problems do not show the text around it: it may be secret. */
function substitute(text: string, env: Environment): { text: string; problems: string[] } {
  const problems: string[] = [];
  const result = text.replace(/\$\{([^}]*)\}/g, (reference, name: string) => {
    if (!NAME.test(name)) {
      problems.push('expected the name of an environment variable between the braces');
      return reference;
    }
    const value = env[name];
    if (value === undefined) problems.push(`the environment variable ${name} is not set`);
    return value ?? reference;
  });
  return { text: result, problems };
}

function offsetOf(document: Document, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset = path.length === 0 ? startOf(node) : undefined;
  for (const key of path) {
    const at = isAlias(node) ? node.resolve(document) : node;
    // Of duplicate keys the last one counts.
    const pair: Pair | undefined = isMap(at) ? at.items.findLast((item) => keyOf(item) === key) : undefined;
    const item: unknown = isSeq(at) ? at.items[Number(key)] : undefined;
    if (!pair && !item) break;
    offset = startOf(pair ? pair.key : item) ?? offset;
    node = pair ? pair.value : item;
  }
  return offset;
}
