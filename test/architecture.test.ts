// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these tests read templates.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeOf, importsOf, type Module } from './architecture/modules.ts';
import { cycles, partOf, violations } from './architecture/rules.ts';
import { TABLE } from './architecture/table.ts';

const ROOT = join(import.meta.dirname, '..');

/** The modules of a folder, by their paths in the repository. */
function filesIn(folder: string): Module[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.[jt]s$/.test(path))
    .map((path) => ({ path: `${folder}/${path}`, text: readFileSync(join(ROOT, folder, path), 'utf8') }));
}

function program(): Module[] {
  return filesIn('src').map(({ path, text }) => ({ path: path.replace('src/', ''), text }));
}

function modules(texts: Readonly<Record<string, string>>): Module[] {
  return Object.entries(texts).map(([path, text]) => ({ path, text }));
}

function broken(texts: Readonly<Record<string, string>>): string[] {
  return violations(modules(texts), [], []);
}

describe('architecture', () => {
  it('imports go in the directions of the table, without cycles, and no file is too long', () => {
    expect(violations(program())).toEqual([]);
  });

  it('the table names no folder that is gone', () => {
    const parts = new Set(program().map(({ path }) => partOf(path)));
    expect(TABLE.map(({ part }) => part).filter((part) => !parts.has(part))).toEqual([]);
  });

  it('each part of the table imports only parts above it', () => {
    const parts = TABLE.map(({ part }) => part);
    const upward = TABLE.flatMap(({ part, imports }) =>
      imports.filter((one) => one !== '*' && parts.indexOf(one) >= parts.indexOf(part)).map((one) => `${part}: ${one}`),
    );
    expect(upward).toEqual([]);
  });

  it('scripts import src and each other without cycles', () => {
    expect(cycles([...filesIn('src'), ...filesIn('scripts'), ...filesIn('deploy')])).toEqual([]);
  });

  describe('the check', () => {
    it.each([
      ['backfill/new.ts', 'config/config.ts', 'backfill may not import config'],
      ['config/load.ts', 'sources/registry.ts', 'config may not import sources/registry'],
      ['config/config.ts', 'sources/machines/config.ts', 'config may not import sources/*/config'],
      ['sources/machines/config.ts', 'sources/source.ts', 'sources/*/config may not import sources,'],
      ['sources/machines/state.ts', 'sources/machines/sweep.ts', 'sources/*/state may not import sources/*/other'],
      ['sources/machines/sweep.ts', 'sources/slashings/state.ts', 'a source may not import another, slashings'],
      ['exporter/setup.ts', 'sources/machines/index.ts', 'exporter may not import sources/*/index'],
    ])('finds that %s imports a type of %s', (path, target, message) => {
      const text = `import type { x } from './${posix.relative(posix.dirname(path), target)}';\n`;
      const found = broken({ [path]: text, [target]: '' });
      expect(found).toEqual([expect.stringContaining(`${path}: ${message}`)]);
    });

    it.each([
      ['facts/new.ts', "import x from 'zod/deep';", 'facts may not import the package zod'],
      ['toolkit/exposition/encode.ts', "import x from 'undici';", 'toolkit may not import the package undici'],
      ['sandbox/server.ts', "import x from 'zod';", 'sandbox may not import the package zod'],
      ['sandbox/server.ts', "import x from '@a/b/deep';", 'sandbox may not import the package @a/b'],
      ['facts/a.ts', "import './gone.ts';", 'there is no facts/gone.ts'],
      [
        'facts/a.ts',
        "await import('../../scripts/x.ts');",
        'src imports nothing of other folders, not ../scripts/x.ts',
      ],
      ['utils/a.ts', '', 'the table has no part utils'],
      ['facts/long.ts', 'x;\n'.repeat(600), '601 lines, at most 600'],
      ['api/client.ts', 'const now = new Date();', 'only toolkit/lib/clock.ts touches real time, not new Date()'],
      ['api/client.ts', '`${setTimeout(f)}`;', 'only toolkit/lib/clock.ts touches real time, not setTimeout'],
      ['api/client.ts', "import 'node:timers';", 'only toolkit/lib/clock.ts touches real time, not node:timers'],
      ['toolkit/lib/new.ts', '/** Two machines. */', 'the toolkit knows nothing of "machine"'],
      ['toolkit/lib/new.ts', "const suffix = '_wei';", 'the toolkit knows nothing of "wei"'],
      ['toolkit/lib/new.ts', "const example = ':10032';", 'the toolkit knows nothing of "10032"'],
      ['toolkit/lib/new.ts', "const why = 'see docs/operations.md';", 'the toolkit knows nothing of "docs"'],
      ['toolkit/lib/new.ts', "const why = 'set state.redis.url';", 'the toolkit knows nothing of "state.redis"'],
    ])('finds what is wrong in %s: %s', (path, text, message) => {
      expect(broken({ [path]: `${text}\n` })).toEqual([`${path}: ${message}`]);
    });

    it('accepts the import of a type where only those are free, and no other', () => {
      const texts = { 'api/client.ts': '', 'sources/source.ts': "import { x } from '../api/client.ts';\n" };
      expect(broken(texts)).toEqual(['sources/source.ts: sources may import only types of api, not api/client.ts']);
      const types = "import type { x } from '../api/client.ts';\nimport { type x as y } from '../api/client.ts';\n";
      expect(broken({ ...texts, 'sources/source.ts': types })).toEqual([]);
    });

    it('accepts in the toolkit words that only look like ours', () => {
      const text =
        "/** https://a.io/docs: whether together either weighs less. */\nthis.#log.level = 'warn';\nlet docset;\n";
      expect(broken({ 'toolkit/lib/new.ts': text })).toEqual([]);
    });

    it('finds modules that import each other in a circle, also for types and on demand', () => {
      const texts = {
        'src/facts/a.ts': "import './b.ts';\n",
        'src/facts/b.ts': "export type { x } from './c.ts';\n",
        'src/facts/c.ts': "const x = await import('../../scripts/d.ts');\n",
        'scripts/d.ts': "import '../src/facts/a.ts';\n",
        'src/facts/e.ts': "import './e.ts';\n",
      };
      expect(cycles(modules(texts))).toEqual([
        'a cycle: scripts/d.ts -> src/facts/a.ts -> src/facts/b.ts -> src/facts/c.ts -> scripts/d.ts',
        'a cycle: src/facts/e.ts -> src/facts/e.ts',
      ]);
    });

    it('finds an exception that is not needed any more', () => {
      expect(violations([], [['facts/a.ts', 'config', 'why']], [])).toEqual([
        'facts/a.ts: the exception for config is not needed',
      ]);
    });
  });

  describe('the reader of imports', () => {
    it('finds every form of import', () => {
      const text = `import a, { type A } from 'a';
import * as b from 'b';
import {
  c,
  type Other,
} from 'c';
import { type D, type E } from 'd';
import type { F } from 'e';
import 'f';
export * from 'g';
export type { H } from 'h';
const i = await import('i');
  import { j } from "j";
`;
      const found = importsOf(text);
      expect(found.map(({ specifier }) => specifier).toSorted()).toEqual([...'abcdefghij']);
      const types = found.filter(({ isTypeOnly }) => isTypeOnly).map(({ specifier }) => specifier);
      expect(types).toEqual(['d', 'e', 'h']);
    });

    it('finds none in a comment', () => {
      expect(
        importsOf("// import 'one';\n/*\nimport 'two';\n*/\nconst url = 'http://host'; // import 'three'\n"),
      ).toEqual([]);
    });

    it('leaves comments, texts and patterns out of the code', () => {
      const text = [
        "const a = 'Date.now()'; // Date.now()",
        '/* Date.now() */ const b = "Date.now()";',
        'const c = /Date.now\\/[/"]/.test(`Date.now() ${d}`);',
      ].join('\n');
      expect(codeOf(text)).not.toContain('Date.now');
      expect(codeOf(text)).toContain('${d}');
    });
  });
});
