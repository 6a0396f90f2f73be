import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { temporaryFolder } from '../../support/files/files.ts';
import { KEY } from '../../support/programs/backfill.ts';
import { SURROUNDINGS, start } from '../../support/programs/program.ts';
import type { Command } from './documents.ts';
import { EXCEPTIONS, FILLED_IN } from './exceptions.ts';
import { STAND_INS, STATE } from './stand-ins.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const NOT_COPIED = ['node_modules', '.git', 'dist', 'coverage'];
/** Folders in which commands leave files. Each reader has its own; the rest is shared, because it is large. */
const CHANGED = ['deploy', 'scripts'];

/** Real programs that documents name, or that stand-ins need. There are no others. */
const REAL =
  'amtool bash cat chmod cp curl cut date df dirname echo env grep gzip head id jq ls mkdir mktemp node prlimit rm sed sh sleep sort tail tar tee tr uname'.split(
    ' ',
  );

/** What is there before the reader begins. */
const FOLDERS = [
  'bin',
  'home/beaconchain-exporter',
  'etc/beaconchain-exporter',
  'etc/grafana/provisioning/dashboards',
  'etc/systemd/system',
  STATE,
  'var/lib/tsdb/wal',
  'prometheus/wal',
];

const UNKNOWN = 'echo "$0 $*: no exception, and nothing runs it"; exit 127';

/** Fixed ports of documents, and the free ports of what is there for the tests. */
export type Ports = Readonly<Record<number, number>>;

/** A clone of the project, and its package as a reader would install it. */
export interface Package {
  readonly clone: string;
  readonly main: string;
}

/** Packs the project, and unpacks it next to the dependencies of the checkout. */
export function packed(): Package {
  const folder = temporaryFolder();
  const clone = join(folder, 'clone');
  cpSync(ROOT, clone, { recursive: true, filter: (path) => !NOT_COPIED.includes(relative(ROOT, path)) });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  const args = ['pack', '--silent', '--pack-destination', folder];
  const name = execFileSync('npm', args, { cwd: clone, encoding: 'utf8' }).trim().split('\n').at(-1) ?? '';
  execFileSync('tar', ['-xzf', name], { cwd: folder });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return { clone, main: join(folder, 'package/dist/main.js') };
}

/**
 * Somebody who has a clone, the package and the programs that the documents need, and nothing else. Commands for a container,
 * for another user or for a service run as plain programs: absolute paths lead below one folder, and `sudo`, `systemd-run`,
 * `docker`, `kubectl` and others run what they are given.
 */
export class Reader {
  readonly #folder = temporaryFolder();
  readonly #home = join(this.#folder, 'home');
  readonly #checkout = join(this.#home, 'beaconchain-exporter');
  readonly #env: NodeJS.ProcessEnv;
  readonly #ports: Ports;
  readonly #skipped = join(this.#folder, 'skipped');
  readonly #left = join(this.#folder, 'left');
  #terminal = { section: '', cwd: '' };

  /** @param url The service that the exporter reads */
  constructor(url: string, { clone, main }: Package, ports: Ports) {
    this.#ports = ports;
    const folder = this.#folder;
    const bin = join(folder, 'bin');
    const config = join(folder, 'etc/beaconchain-exporter/config.yaml');
    for (const path of FOLDERS) mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(
      config,
      `api: {base_url: "${url}"}\nchains: {hoodi: {v1_base_url: "${url}/hoodi"}}\nstate: {dir: "${folder}${STATE}"}\n`,
    );
    writeFileSync(this.#skipped, '');
    cpSync(join(ROOT, 'deploy/systemd/beaconchain-exporter.service'), join(folder, UNIT));
    for (const [name, text] of Object.entries(STAND_INS)) this.#program(name, text);
    // As the image has it.
    const [, launcher = ''] = /^launcher='#!(.*)'$/m.exec(readFileSync(join(ROOT, 'scripts/image-root'), 'utf8')) ?? [];
    this.#program(
      'beaconchain-exporter',
      `exec inside serving ${launcher.replace('/usr/local/bin/', '')} ${main} "$@"`,
    );
    for (const name of readdirSync(clone)) {
      const [from, to] = [join(clone, name), join(this.#checkout, name)];
      if (CHANGED.includes(name)) cpSync(from, to, { recursive: true });
      else symlinkSync(from, to);
    }
    cpSync(config, join(this.#checkout, 'config.yaml'));
    const manifests = spawnSync('cat', ['deploy/kubernetes', 'deploy/kubernetes-replicas'].flatMap(yamlFiles)).stdout;
    writeFileSync(join(folder, 'manifests.yaml'), manifests);
    for (const name of REAL) {
      const file = whereIs(name);
      if (file) symlinkSync(file, join(bin, name));
    }
    this.#skipExceptions();
    this.#env = {
      ...SURROUNDINGS,
      PATH: bin,
      FAKE_ROOT: folder,
      BEACONCHAIN_API_KEY: KEY,
      BEACONCHAIN_EXPORTER_CONFIG_FILE: config,
      // Its keys are paths, which differ at each run.
      NODE_COMPILE_CACHE: join(main, '../../../compiled'),
      REAL_NPM: whereIs('npm'),
      REAL_PROMTOOL: whereIs('promtool'),
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
    // The terminal of a section stays where a command of the section has left it.
    const section = `${folder} ${heading}`;
    if (section !== this.#terminal.section) this.#terminal = { section, cwd: join(this.#checkout, folder) };
    // An overlay is next to the clone.
    writeFileSync(join(this.#home, 'kustomization.yaml'), overlay);
    const cwd = /^kubectl apply -k \.$/m.test(text) ? this.#home : this.#terminal.cwd;
    const commands = `trap 'pwd > ${this.#left}' EXIT\n${this.#typed(text)}`;
    const running = start('bash', ['-euo', 'pipefail', '-c', commands], { cwd, env: this.#env });
    const { code } = await running.ended;
    this.#terminal.cwd = readFileSync(this.#left, 'utf8').trim();
    return code === 0 ? [] : [`${file}:${line}: ended with ${code}\n${text}\n${running.output}`];
  }

  /** The exceptions that were met so far. */
  skipped(): string[] {
    return readFileSync(this.#skipped, 'utf8').split('\n');
  }

  /** Puts a program into the path, or where the name says. */
  #program(name: string, text: string): void {
    const file = resolve(this.#folder, 'bin', name);
    rmSync(file, { force: true });
    writeFileSync(file, `#!/bin/bash\n${text}\n`);
    chmodSync(file, 0o755);
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
      this.#program(
        name.includes('/') ? join(this.#checkout, name) : name,
        `case "$*" in\n${cases.join('\n')}\nesac\n${STAND_INS[name] ?? real}`,
      );
    }
  }
}

const UNIT = 'etc/systemd/system/beaconchain-exporter.service';

function yamlFiles(folder: string): string[] {
  const { stdout } = spawnSync('find', [join(ROOT, folder), '-name', '*.yaml'], { encoding: 'utf8' });
  return stdout.trim().split('\n');
}

const places = new Map<string, string | undefined>([['node', process.execPath]]);

function whereIs(name: string): string | undefined {
  if (!places.has(name)) places.set(name, spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim() || undefined);
  return places.get(name);
}
