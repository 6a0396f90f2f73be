import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { temporaryFolder } from '../../support/files.ts';
import type { Command } from './documents.ts';
import { EXCEPTIONS, FILLED_IN } from './exceptions.ts';
import { STAND_INS } from './stand-ins.ts';
import { Surroundings } from './surroundings.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const NOT_COPIED = ['node_modules', '.git', 'dist', 'coverage'];
/** Folders in which commands leave files. Each reader has its own; the rest is shared, because it is large. */
const CHANGED = ['deploy', 'scripts'];

/** Real programs that documents name, or that stand-ins need. There are no others. */
const REAL =
  'amtool bash cat chmod cp curl cut date dirname echo env grep gzip head id jq ls mkdir mktemp node prlimit promtool rm sed sh sleep sort tail tar tr uname'.split(
    ' ',
  );

const UNKNOWN = 'echo "$0 $*: no exception, and nothing runs it"; exit 127';

/** Fixed ports of documents, and the free ports of what is there for the tests. */
export type Ports = Readonly<Record<number, number>>;

/** A clone of the project, and its package as a reader would install it. */
export interface Package {
  readonly clone: string;
  readonly tarball: string;
  readonly main: string;
}

/** Packs the project, and unpacks it beside the dependencies of the checkout. */
export function packed(): Package {
  const folder = temporaryFolder();
  const clone = join(folder, 'clone');
  cpSync(ROOT, clone, { recursive: true, filter: (path) => !NOT_COPIED.includes(relative(ROOT, path)) });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  const args = ['pack', '--silent', '--pack-destination', folder];
  const name = execFileSync('npm', args, { cwd: clone, encoding: 'utf8' }).trim().split('\n').at(-1) ?? '';
  execFileSync('tar', ['-xzf', name], { cwd: folder });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return { clone, tarball: join(folder, name), main: join(folder, 'package/dist/main.js') };
}

/** Somebody who has a clone, the package and the programs that the documents need, and nothing else. */
export class Reader {
  readonly #surroundings: Surroundings;
  readonly #env: NodeJS.ProcessEnv;
  readonly #ports: Ports;
  readonly #skipped: string;
  readonly #left: string;
  #terminal = { section: '', cwd: '' };

  constructor(url: string, { clone, tarball, main }: Package, ports: Ports) {
    this.#surroundings = new Surroundings(url, main);
    this.#ports = ports;
    const { folder, bin, checkout, config } = this.#surroundings;
    this.#skipped = join(folder, 'skipped');
    this.#left = join(folder, 'left');
    writeFileSync(this.#skipped, '');
    for (const name of readdirSync(clone)) {
      const [from, to] = [join(clone, name), join(checkout, name)];
      if (CHANGED.includes(name)) cpSync(from, to, { recursive: true });
      else symlinkSync(from, to);
    }
    cpSync(config, join(checkout, 'config.yaml'));
    const manifests = spawnSync('cat', ['deploy/kubernetes', 'deploy/kubernetes-replicas'].flatMap(yamlFiles)).stdout;
    writeFileSync(join(folder, 'manifests.yaml'), manifests);
    for (const name of REAL) {
      const file = whereIs(name);
      if (file) symlinkSync(file, join(bin, name));
    }
    this.#skipExceptions();
    this.#env = {
      PATH: bin,
      PACKED: tarball,
      // Its keys are paths, which differ at each run.
      NODE_COMPILE_CACHE: join(tarball, '../compiled'),
      REAL_NPM: whereIs('npm'),
      REAL_KUBECTL: whereIs('kubectl'),
      NPM_CONFIG_UPDATE_NOTIFIER: 'false',
      // What is forgotten in the exceptions fails, and downloads nothing.
      NPM_CONFIG_OFFLINE: 'true',
      BEACONCHAIN_EXPORTER_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
      BEACONCHAIN_EXPORTER_SANDBOX_LISTEN_ADDRESS: '127.0.0.1:0',
      // With its defaults the exporter would ask the real service.
      HTTPS_PROXY: 'http://127.0.0.1:9',
    };
  }

  /** @returns what went wrong */
  async run({ file, line, heading, text, folder, overlay }: Command): Promise<string[]> {
    const { checkout, home } = this.#surroundings;
    // The terminal of a section stays where a command of the section has left it.
    const section = `${folder} ${heading}`;
    if (section !== this.#terminal.section) this.#terminal = { section, cwd: join(checkout, folder) };
    // An overlay stands beside the clone.
    writeFileSync(join(home, 'kustomization.yaml'), overlay);
    const cwd = /^kubectl apply -k \.$/m.test(text) ? home : this.#terminal.cwd;
    const commands = `trap 'pwd > ${this.#left}' EXIT\n${this.#typed(text)}`;
    const { code, output } = await this.#surroundings.run(commands, this.#env, cwd);
    this.#terminal.cwd = readFileSync(this.#left, 'utf8').trim();
    return code === 0 ? [] : [`${file}:${line}: ended with ${code}\n${text}\n${output}`];
  }

  /** The exceptions that were met so far. */
  skipped(): string[] {
    return readFileSync(this.#skipped, 'utf8').split('\n');
  }

  #typed(text: string): string {
    const filledIn = FILLED_IN.reduce((so, [from, to]) => so.replaceAll(from, to), text);
    const listening = filledIn.replace(/(listen-address=\S*:)\d+/g, '$10');
    return listening.replace(/((?:localhost|127\.0\.0\.1):)(\d+)(?![\d:])/g, (all, host: string, port: string) => {
      const free = this.#ports[Number(port)];
      return free === undefined ? all : `${host}${free}`;
    });
  }

  /** Replaces each program that has exceptions. An exception does nothing, other arguments work as before. */
  #skipExceptions(): void {
    const names = new Set(EXCEPTIONS.map(([command]) => command.split(' ', 1)[0] ?? ''));
    for (const name of names) {
      const real = REAL.includes(name) ? `exec ${whereIs(name)} "$@"` : UNKNOWN;
      const cases = EXCEPTIONS.filter(([command]) => command.startsWith(`${name} `)).map(([command]) => {
        const pattern = command.slice(name.length + 1).replace(/[^\w*]/g, '\\$&');
        return `  ${pattern}) echo '${command}' >> ${this.#skipped}; exit ;;`;
      });
      this.#surroundings.program(
        name.includes('/') ? join(this.#surroundings.checkout, name) : name,
        `case "$*" in\n${cases.join('\n')}\nesac\n${STAND_INS[name] ?? real}`,
      );
    }
  }
}

function yamlFiles(folder: string): string[] {
  const { stdout } = spawnSync('find', [join(ROOT, folder), '-name', '*.yaml'], { encoding: 'utf8' });
  return stdout.trim().split('\n');
}

const places = new Map<string, string | undefined>([['node', process.execPath]]);

function whereIs(name: string): string | undefined {
  if (!places.has(name)) places.set(name, spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim() || undefined);
  return places.get(name);
}
