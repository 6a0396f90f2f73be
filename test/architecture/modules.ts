/** A file of the program: its path below src and its text. */
export interface Module {
  readonly path: string;
  readonly text: string;
}

export interface Import {
  /** As written. */
  readonly specifier: string;
  readonly isTypeOnly: boolean;
}

/** Comments, strings, templates and regular expressions are found together: each can hold what looks like another. */
const TOKENS =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[(=,:[!&|?{};\n]\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\//g;

/** The text without comments. */
function withoutComments(text: string): string {
  return text.replace(TOKENS, (token) => (token.startsWith('//') || token.startsWith('/*') ? ' ' : token));
}

/** The text without comments and without what is quoted. */
export function codeOf(text: string): string {
  return text.replace(TOKENS, (token) =>
    token.startsWith('`') ? (token.match(/\$\{[^}]*\}/g)?.join(' ') ?? ' ') : ' ',
  );
}

const STATEMENT = /^\s*(?:import|export)\s+(type\s+)?((?:[\w$*\s,]|\{[^}]*\})*?)\s*from\s*['"]([^'"]+)['"]/gm;
const BARE = /^\s*import\s*['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\s*\(\s*['"]([^'"]+)['"]\s*\)/g;

/** All that a module imports or exports from elsewhere. */
export function importsOf(text: string): Import[] {
  const code = withoutComments(text);
  const found: Import[] = [];
  for (const [, type, clause = '', specifier = ''] of code.matchAll(STATEMENT)) {
    found.push({ specifier, isTypeOnly: type !== undefined || hasOnlyTypes(clause) });
  }
  for (const [, specifier = ''] of code.matchAll(BARE)) found.push({ specifier, isTypeOnly: false });
  for (const [, specifier = ''] of code.matchAll(DYNAMIC)) found.push({ specifier, isTypeOnly: false });
  return found;
}

/** `{ type A, type B }` */
function hasOnlyTypes(clause: string): boolean {
  const names = /^\{([^}]*)\}$/
    .exec(clause.trim())?.[1]
    ?.split(',')
    .filter((name) => name.trim() !== '');
  return names !== undefined && names.length > 0 && names.every((name) => /^\s*type\s/.test(name));
}
