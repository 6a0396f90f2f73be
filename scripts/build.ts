import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { VERSION } from '../src/facts/version.ts';
import { DOCUMENTS, PICTURES } from '../src/status-page/documentation.ts';
import { bundle } from './bundle.ts';
import { renderDocument } from './document-page.ts';
import { originOf } from './pack.ts';

/**
 * Writes dist/, or the folder that is given: JavaScript, because Node does not strip types under node_modules, and the
 * documentation as it is served.
 */
const folder = resolve(process.argv[2] ?? 'dist');
rmSync(folder, { recursive: true, force: true });
await bundle(folder);
chmodSync(`${folder}/main.js`, 0o755);
await writeDocumentation();
writeFileSync(`${folder}/build.json`, JSON.stringify({ revision: revision() }));

async function writeDocumentation(): Promise<void> {
  mkdirSync(`${folder}/docs/images`, { recursive: true });
  const { repository } = originOf(process.env);
  for (const name of ['index', ...DOCUMENTS]) {
    writeFileSync(`${folder}/docs/${name}.html`, await renderDocument(name, filesUrl(repository?.url)));
  }
  for (const file of PICTURES) copyFileSync(`docs/images/${file}`, `${folder}/docs/images/${file}`);
}

/** The files of this release, which has the tag `v<version>`; undefined if the repository is not on the web. */
function filesUrl(repository: string | undefined): string | undefined {
  const [, address] = /^(?:git\+)?(https:\/\/.+?)(?:\.git)?$/.exec(repository ?? '') ?? [];
  return address === undefined ? undefined : `${address}/blob/v${VERSION}`;
}

/** From the environment if the build has no checkout, such as that of the image; otherwise from git. */
function revision(): string {
  const given = process.env['REVISION'];
  if (given) return given;
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return '';
  }
}
