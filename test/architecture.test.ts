// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates are among what is read here.
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

/** Modules without text where none is given, so that imports lead somewhere. */
function modules(texts: Readonly<Record<string, string>>): Module[] {
  return Object.entries(texts).map(([path, text]) => ({ path, text }));
}

function broken(texts: Readonly<Record<string, string>>): string[] {
  return violations(modules(texts), [], []);
}

describe('architecture', () => {
  it('holds: imports go in the directions of the table, without cycles, in files that can be read at a glance', () => {
    expect(violations(program())).toEqual([]);
  });

  it('knows every folder and every npm package that the program uses', () => {
    const parts = new Set(program().map(({ path }) => partOf(path)));
    expect(TABLE.map(({ part }) => part).filter((part) => !parts.has(part))).toEqual([]);
  });

  it('lets each part import only parts above it in the table', () => {
    const parts = TABLE.map(({ part }) => part);
    const upward = TABLE.flatMap(({ part, imports }) =>
      imports.filter((one) => one !== '*' && parts.indexOf(one) >= parts.indexOf(part)).map((one) => `${part}: ${one}`),
    );
    expect(upward).toEqual([]);
  });

  it('holds for scripts too: they import src and each other, without cycles, and src imports none of them', () => {
    expect(cycles([...filesIn('src'), ...filesIn('scripts'), ...filesIn('deploy')])).toEqual([]);
  });

  describe('is held by a test that fails', () => {
    it.each([
      ['backfill/new.ts', 'config/config.ts', 'backfill may not import config'],
      ['sandbox/new.ts', 'api/client.ts', 'sandbox may not import api'],
      ['config/load.ts', 'sources/registry.ts', 'config may not import sources/registry'],
      ['config/config.ts', 'sources/machines/config.ts', 'config may not import sources/*/config'],
      ['sources/machines/config.ts', 'sources/source.ts', 'sources/*/config may not import sources,'],
      ['sources/machines/state.ts', 'sources/machines/sweep.ts', 'sources/*/state may not import sources/*/other'],
      ['sources/machines/index.ts', 'sources/registry.ts', 'sources/*/index may not import sources/registry'],
      ['sources/machines/sweep.ts', 'sources/slashings/state.ts', 'a source may not import another, slashings'],
      ['exporter/setup.ts', 'sources/machines/index.ts', 'exporter may not import sources/*/index'],
    ])('when %s imports %s, even a type', (path, target, message) => {
      const text = `import type { x } from './${posix.relative(posix.dirname(path), target)}';\n`;
      const found = broken({ [path]: text, [target]: '' });
      expect(found).toEqual([expect.stringContaining(`${path}: ${message}`)]);
    });

    it('when a part imports more than types where only those are free', () => {
      const texts = { 'api/client.ts': '', 'sources/source.ts': "import { x } from '../api/client.ts';\n" };
      expect(broken(texts)).toEqual(['sources/source.ts: sources may import only types of api, not api/client.ts']);
      const types = "import type { x } from '../api/client.ts';\nimport { type x as y } from '../api/client.ts';\n";
      expect(broken({ ...texts, 'sources/source.ts': types })).toEqual([]);
    });

    it.each([
      ['facts/new.ts', 'zod'],
      ['toolkit/exposition/encode.ts', 'prom-client'],
      ['budget/ledger.ts', 'undici'],
      ['sources/machines/sweep.ts', 'undici'],
      ['toolkit/web/server.ts', '@scope/name'],
      ['sandbox/server.ts', 'zod'],
    ])('when %s imports the package %s', (path, name) => {
      expect(broken({ [path]: `import x from '${name}/deep';\n` })).toEqual([
        `${path}: ${partOf(path)} may not import the package ${name}`,
      ]);
    });

    it.each([
      ['Date.now', 'const now = Date.now();'],
      ['new Date()', 'const now = new Date();'],
      ['setTimeout', 'setTimeout(() => undefined, 1);'],
      ['AbortSignal.timeout', 'const signal = AbortSignal.timeout(5);'],
      ['setTimeout', 'const text = `${setTimeout(f)}`;'],
      ['node:timers/promises', "import { scheduler } from 'node:timers/promises';"],
    ])('when anyone but the clock uses %s', (what, text) => {
      expect(broken({ 'api/client.ts': `${text}\n` })).toEqual([
        `api/client.ts: only toolkit/lib/clock.ts touches real time, not ${what}`,
      ]);
    });

    it.each([
      ['machine', '/** Two machines. */'],
      ['validator', 'function validatorOf() {}'],
      ['beacon', "const program = 'beaconchain-exporter';"],
      ['Propos', 'class Proposals {}'],
      ['wei', "const suffix = '_wei';"],
      ['ETH', "const unit = 'ETH';"],
      ['ledger', "const name = 'ledger';"],
      ['10032', "const example = ':10032';"],
      ['docs', "const path = '/docs/alerts';"],
      ['docs', "const why = 'see docs/operations.md';"],
      ['state.redis', "const why = 'set state.redis.password';"],
      ['config.file', "const flag = '--config.file';"],
    ])('when the toolkit knows the word %s of this exporter: %s', (word, text) => {
      const message = `toolkit/lib/new.ts: the toolkit knows nothing of ${JSON.stringify(word)}`;
      expect(broken({ 'toolkit/lib/new.ts': text })).toContain(message);
      expect(broken({ 'facts/new.ts': text })).not.toContain(message);
    });

    it('and not when other words are like them', () => {
      const text = `/** https://prometheus.io/docs/prometheus: whether together either weighs less; methods. */
this.#log.level = 'warn';
const docset = weight;
`;
      expect(broken({ 'toolkit/lib/new.ts': text })).toEqual([]);
    });

    it('when a file is longer than 600 lines', () => {
      expect(broken({ 'facts/long.ts': 'x;\n'.repeat(250) })).toEqual([]);
      expect(broken({ 'facts/long.ts': 'x;\n'.repeat(601) })).toEqual(['facts/long.ts: 601 lines, at most 600']);
    });

    it('when modules import each other in a circle, be it for types', () => {
      const texts = {
        'facts/a.ts': "import './b.ts';\n",
        'facts/b.ts': "export type { x } from './c.ts';\n",
        'facts/c.ts': "const x = await import('./a.ts');\n",
        'facts/d.ts': "import './a.ts';\n",
        'facts/e.ts': "import './e.ts';\n",
      };
      expect(broken(texts)).toEqual([
        'a cycle: facts/a.ts -> facts/b.ts -> facts/c.ts -> facts/a.ts',
        'a cycle: facts/e.ts -> facts/e.ts',
      ]);
    });

    it('when src imports a script, also on demand, and with it the circle that this makes', () => {
      const texts = {
        'src/status-page/page.ts': "const { render } = await import('../../scripts/render.ts');\n",
        'scripts/render.ts': "import { style } from '../src/status-page/style.ts';\n",
        'src/status-page/style.ts': "import './page.ts';\n",
      };
      expect(cycles(modules(texts))).toEqual([
        'a cycle: scripts/render.ts -> src/status-page/style.ts -> src/status-page/page.ts -> scripts/render.ts',
      ]);
      const [text] = Object.values(texts);
      expect(broken({ 'status-page/page.ts': text ?? '' })).toEqual([
        'status-page/page.ts: src imports nothing of other folders, not ../scripts/render.ts',
      ]);
    });

    it('when an import leads nowhere, or to a folder that the table does not know', () => {
      expect(broken({ 'facts/a.ts': "import './gone.ts';\n" })).toEqual(['facts/a.ts: there is no facts/gone.ts']);
      expect(broken({ 'utils/a.ts': '' })).toEqual(['utils/a.ts: the table has no part utils']);
    });

    it('when a departure is not needed any more', () => {
      expect(violations([], [['facts/a.ts', 'config', 'why']], [])).toEqual([
        'facts/a.ts: the exception for config is not needed',
      ]);
    });
  });

  describe('reads', () => {
    it('every form of import', () => {
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

    it('no import in a comment', () => {
      expect(
        importsOf("// import 'one';\n/*\nimport 'two';\n*/\nconst url = 'http://host'; // import 'three'\n"),
      ).toEqual([]);
    });

    it('code without comments, texts and patterns', () => {
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
