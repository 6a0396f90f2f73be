import { posix } from 'node:path';
import { codeOf, type Import, importsOf, type Module } from './modules.ts';
import { CLOCKS, DEPARTURES, MAX_FILE, PARTS_OF_SOURCES, type Row, TABLE } from './table.ts';
import { foreignWordsIn } from './words.ts';

/** A rule that is broken; `subject` is what a departure would name. */
interface Breach {
  readonly file: string;
  readonly subject: string;
  readonly message: string;
}

/** Everything that these modules do against the rules, one line each, and departures that are not needed. */
export function violations(modules: readonly Module[], departures = DEPARTURES, clocks = CLOCKS): string[] {
  const byTable = modules.flatMap((module) => importBreaches(module, modules));
  const byClock = modules.flatMap(clockBreaches);
  return [
    ...excuse(byTable, departures),
    ...excuse(byClock, clocks),
    ...cycles(modules),
    ...modules.flatMap(tooLong),
    ...modules.flatMap(foreignWords),
  ];
}

type Excuses = readonly (readonly [file: string, subject: string, why: string])[];

function excuse(breaches: readonly Breach[], excuses: Excuses): string[] {
  const covers = ([file, subject]: Excuses[number], breach: Breach): boolean =>
    file === breach.file && subject === breach.subject;
  return [
    ...breaches.filter((breach) => !excuses.some((one) => covers(one, breach))).map(({ message }) => message),
    ...excuses
      .filter((one) => !breaches.some((breach) => covers(one, breach)))
      .map(([file, subject]) => `${file}: the exception for ${subject} is not needed`),
  ];
}

/** The part of the table that a file belongs to. */
export function partOf(path: string): string {
  const [folder = '', source, file] = path.split('/');
  if (source === undefined) return folder.replace(/\.ts$/, '');
  if (folder === 'api' && /^(answers|endpoints\.ts)$/.test(source)) return `api/${source.replace(/\.ts$/, '')}`;
  if (folder !== 'sources') return folder;
  if (file === undefined) return source === 'registry.ts' ? 'sources/registry' : folder;
  const name = file.replace(/\.ts$/, '');
  return `sources/*/${PARTS_OF_SOURCES.includes(name) ? name : 'other'}`;
}

function importBreaches(module: Module, modules: readonly Module[]): Breach[] {
  const part = partOf(module.path);
  const row = TABLE.find((one) => one.part === part);
  if (!row) return [{ file: module.path, subject: part, message: `${module.path}: the table has no part ${part}` }];
  return importsOf(module.text).flatMap((one) =>
    one.specifier.startsWith('.')
      ? moduleBreaches(module, one, row, modules)
      : packageBreaches(module, one.specifier, row),
  );
}

function packageBreaches({ path }: Module, specifier: string, row: Row): Breach[] {
  if (specifier.startsWith('node:') || row.packages.includes('*')) return [];
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const isAllowed = row.packages.includes(name) || row.packages.includes(`${name} in ${posix.basename(path)}`);
  return isAllowed
    ? []
    : [{ file: path, subject: name, message: `${path}: ${row.part} may not import the package ${name}` }];
}

function moduleBreaches({ path }: Module, one: Import, row: Row, modules: readonly Module[]): Breach[] {
  const target = resolve(path, one.specifier);
  const breach = (message: string, subject = partOf(target)): Breach[] => [
    { file: path, subject, message: `${path}: ${message}` },
  ];
  if (target.startsWith('..')) return breach(`src imports nothing of other folders, not ${target}`);
  if (!modules.some((module) => module.path === target)) return breach(`there is no ${target}`);
  const [source, other] = [sourceOf(path), sourceOf(target)];
  if (source !== undefined && other !== undefined)
    return source === other ? siblingBreaches() : breach(`a source may not import another, ${other}`);
  const part = partOf(target);
  const isInAll = row.imports.includes('*') && other === undefined;
  if (part === row.part || isInAll || row.imports.includes(part)) return [];
  if (row.types?.includes(part)) {
    return one.isTypeOnly ? [] : breach(`${row.part} may import only types of ${part}, not ${target}`);
  }
  return breach(`${row.part} may not import ${part}, ${target}`);

  /** Within a source every part may import every other, but its config and its state import none. */
  function siblingBreaches(): Breach[] {
    return ['sources/*/config', 'sources/*/state'].includes(row.part)
      ? breach(`${row.part} may not import ${partOf(target)}, ${target}`)
      : [];
  }
}

function resolve(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier);
}

/** The source in whose folder a file lies. */
function sourceOf(path: string): string | undefined {
  return /^sources\/([^/]+)\//.exec(path)?.[1];
}

const DOORS = [
  'Date.now',
  'new Date()',
  'performance.now',
  'performance.timeOrigin',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'process.hrtime',
  'process.uptime',
  'AbortSignal.timeout',
];

function clockBreaches({ path, text }: Module): Breach[] {
  const code = codeOf(text);
  const used = DOORS.filter((door) => new RegExp(`(?<![\\w.])${door.replace(/[.()]/g, '\\$&')}(?!\\w)`).test(code));
  const modules = importsOf(text)
    .map(({ specifier }) => specifier)
    .filter((specifier) => /^node:(timers|perf_hooks)/.test(specifier));
  return [...used, ...modules].map((subject) => ({
    file: path,
    subject,
    message: `${path}: only toolkit/lib/clock.ts touches real time, not ${subject}`,
  }));
}

function tooLong({ path, text }: Module): string[] {
  const lines = text.split('\n').length - 1;
  return lines > MAX_FILE ? [`${path}: ${lines} lines, at most ${MAX_FILE}`] : [];
}

function foreignWords({ path, text }: Module): string[] {
  if (!path.startsWith('toolkit/')) return [];
  return foreignWordsIn(text).map((word) => `${path}: the toolkit knows nothing of ${JSON.stringify(word)}`);
}

/** Each cycle once, from its first module in the order of names; types count too. */
export function cycles(modules: readonly Module[]): string[] {
  const targets = new Map(
    modules.map(({ path, text }) => [
      path,
      importsOf(text)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => resolve(path, specifier)),
    ]),
  );
  const found = new Set<string>();
  const done = new Set<string>();
  const visit = (path: string, above: readonly string[]): void => {
    const start = above.indexOf(path);
    if (start !== -1) {
      const cycle = above.slice(start);
      const first = cycle.indexOf(cycle.toSorted()[0] ?? '');
      found.add([...cycle.slice(first), ...cycle.slice(0, first), cycle[first]].join(' -> '));
    }
    if (start !== -1 || done.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...above, path]);
    done.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  return [...found].map((cycle) => `a cycle: ${cycle}`);
}
