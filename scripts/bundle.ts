import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '..');

/** Bundles the program below `folder`: main.js, which loads the rest from program/. */
export async function bundle(folder: string): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { main: 'src/main.ts', 'program/bcrypt-worker': 'src/toolkit/web/bcrypt-worker.ts' },
    outdir: folder,
    // Two folders below the package, as in src: files are found relative to the module.
    chunkNames: 'program/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    // undici without its second HTTP parser, which is an experiment.
    define: { esbuildDetection: '1' },
    target: 'node24',
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    plugins: [builtins],
  });
  for (const file of Object.keys(metafile.outputs)) if (file.endsWith('.js')) expectOneByte(join(ROOT, file));
  writeFileSync(join(folder, 'LICENSES.txt'), licences(metafile));
}

/**
 * Node's own modules without their facade for ES modules. The facade reads each export, and an export of node:http is
 * Node's own copy of undici: 13 MiB and 30 ms. Here an export that is not used is not read. Each importer has a stub
 * of its own: a stub that several files of the bundle share would be one more file to load.
 */
const builtins: Plugin = {
  name: 'builtins',
  setup(plugged) {
    plugged.onResolve({ filter: /^[a-z]/ }, ({ path, kind, importer }) => {
      // A dynamic import expects the names of the facade.
      if (!isBuiltin(path) || kind === 'dynamic-import') return undefined;
      const name = path.replace(/^(?!node:)/, 'node:');
      const namespace = kind === 'require-call' ? 'required' : 'imported';
      return { path: `${name} ${importer}`, namespace, pluginData: name };
    });
    plugged.onLoad({ filter: /./, namespace: 'required' }, ({ pluginData: name }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(name)});`,
    }));
    plugged.onLoad({ filter: /./, namespace: 'imported' }, ({ pluginData: name }) => {
      const exported = Object.keys(process.getBuiltinModule(name)).filter((key) => key !== 'default');
      const read = exported.map((key) => `export const ${key} = /* @__PURE__ */ (() => builtin.${key})();`);
      return {
        contents: [
          `const builtin = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(name)});`,
          'export default builtin;',
          ...read,
        ].join('\n'),
      };
    });
  },
};

/** If one character of a file is not ASCII, V8 keeps the file with two bytes for each character. */
function expectOneByte(file: string): void {
  const text = readFileSync(file, 'utf8');
  const [found] = /.{0,40}[^\0-\x7f].{0,40}/u.exec(text) ?? [];
  if (found !== undefined) throw new Error(`${file} has a character that is not ASCII; write an escape: ${found}`);
}

/** The licences of the packages of which the bundle contains code. */
function licences({ inputs }: Metafile): string {
  const folders = new Set(
    // A name with a colon is a stub of `builtins`.
    Object.keys(inputs).flatMap((path) => /^[^:]*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []),
  );
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    const files = readdirSync(join(ROOT, folder)).filter((file) => /^(licen[cs]e|notice)/i.test(file));
    const text = files.map((file) => readFileSync(join(ROOT, folder, file), 'utf8').trim()).join('\n\n');
    return `${name} ${version} (${license})\n\n${text || `See ${relative('node_modules', folder)}/package.json.`}\n`;
  });
  return `This program contains code of these packages.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
