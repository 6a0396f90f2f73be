import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROGRAM, parseCommand } from '../src/commands/flag-table.ts';
import { control } from '../src/sandbox/control.ts';
import { Sandbox } from '../src/sandbox/world.ts';
import { ALL_FAMILIES } from './support/contract/metric-contract.ts';
import { ask } from './support/network/ask.ts';
import { NOW } from './support/time/timing.ts';
import { serveStatus } from './support/web/status-server.ts';

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'deploy/kubernetes/README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

/** Files with commands in their comments. */
const COMMENTED = ['config.example.yaml', 'Dockerfile', ...filesIn('deploy'), 'deploy/compose/demo.env'];

/** A flag of other exporters that ours refuses. */
const REFUSED = 'web.max-requests';

interface Block {
  readonly language: string;
  readonly text: string;
}

/** A document as its fenced blocks and the text between them. */
function read(file: string): { blocks: Block[]; prose: string } {
  const blocks: Block[] = [];
  const prose = readFileSync(file, 'utf8').replace(/^```(\w*)\n([\s\S]*?)^```$/gm, (_, language = '', text = '') => {
    blocks.push({ language, text });
    return '';
  });
  return { blocks, prose };
}

/** Anchors as GitHub makes them. */
function anchorsOf(file: string): Set<string> {
  const seen = new Map<string, number>();
  const headings = [...read(file).prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, text = '']) => {
    const words = text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = words.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/ /g, '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  });
  return new Set(headings);
}

/** The code and manifests in a folder. */
function filesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.(ts|ya?ml)$/.test(name)).map((name) => join(folder, name));
}

/** The local targets of links and pictures. */
function targetsOf(file: string): string[] {
  const { prose } = read(file);
  const text = prose.replace(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)|\bsrc="([^"]+)"/g)]
    .map(([, link, picture]) => link ?? picture ?? '')
    .filter((target) => !/^[a-z]+:/.test(target));
}

function isBroken(file: string, target: string): boolean {
  const [path = '', anchor] = target.split('#', 2);
  const leadsTo = path === '' ? file : join(dirname(file), path);
  if (!existsSync(leadsTo)) return true;
  return anchor !== undefined && !anchorsOf(leadsTo).has(anchor);
}

/** Lines of a shell block, those that go on joined. */
function linesOf({ text }: Block): string[] {
  return text.replace(/\\\n\s*/g, '').split('\n');
}

const IN_SHELL =
  /^\s*(?:sudo )?(?:[A-Z_]+=\S+ )*(?:npx |docker compose exec exporter )?(?:beaconchain-exporter|npm start --)(?= |$)([^#|;&>]*)/;

/** The arguments of every call of our command, in blocks and between the lines. */
function callsIn(file: string): string[][] {
  const { blocks, prose } = read(file);
  const inBlocks = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap((block) => linesOf(block).flatMap((line) => IN_SHELL.exec(line)?.[1] ?? []));
  const inline = [
    ...prose.matchAll(/`(?:(?:npx )?beaconchain-exporter( [^`]+)|((?:serve|check|backfill|demo) --[^`]+))`/g),
  ].map(([, args, shortened]) => args ?? shortened ?? '');
  return [...inBlocks, ...inline].map((args) => args.split(/\s+/).filter((word) => word !== ''));
}

function refusalOf(args: readonly string[]): string | undefined {
  try {
    parseCommand(args, {});
    return undefined;
  } catch (error) {
    return `${args.join(' ')}: ${String(error)}`;
  }
}

describe('docs', () => {
  it.each(DOCUMENTS)('every link of %s leads somewhere', (file) => {
    expect(targetsOf(file).filter((target) => isBroken(file, target))).toEqual([]);
  });

  // In a window of 1280 px, 110 characters fit.
  it.each(DOCUMENTS)('no diagram of %s is wider than its page', (file) => {
    const diagrams = [...readFileSync(file, 'utf8').matchAll(/^```\n([^`]*)^```$/gm)].map(([, text = '']) => text);
    expect(diagrams.flatMap((text) => text.split('\n')).filter((line) => line.length > 105)).toEqual([]);
  });

  it.each(DOCUMENTS)('the program accepts every command line in %s', (file) => {
    expect(callsIn(file).flatMap((args) => refusalOf(args) ?? [])).toEqual([]);
  });

  it.each(DOCUMENTS)('the sandbox accepts every order in %s', (file) => {
    const orders = readFileSync(file, 'utf8').matchAll(/\/-\/(?!healthy|ready|reload|metrics|\.\.\.)[a-z-]+[^\s"'`]*/g);
    const answers = [...orders].map(([path]) => {
      const sandbox = new Sandbox();
      return [path, control(sandbox, { method: 'POST', path }, NOW)?.status];
    });
    expect(answers.filter(([, status]) => status !== 200)).toEqual([]);
  });

  it.each(DOCUMENTS)('%s names only flags that exist', (file) => {
    const known = PROGRAM.flags.map(({ name }) => name);
    const named = [...read(file).prose.matchAll(/`--((?:config|web|sandbox|log)\.[\w.-]+)/g)].map(
      ([, name = '']) => name,
    );
    expect(named.filter((name) => !known.includes(name) && name !== REFUSED)).toEqual([]);
  });

  it.each(DOCUMENTS)('every shell block of %s is valid', (file) => {
    const blocks = read(file).blocks.filter(({ language }) => language === 'sh');
    const input = blocks.map(({ text }) => text).join('\n');
    expect(spawnSync('bash', ['-n'], { input, encoding: 'utf8' }).stderr).toBe('');
  });

  it('every npm script, file, Compose service and Kubernetes object in a command exists', () => {
    const text = [...DOCUMENTS.filter((file) => file !== 'CHANGELOG.md'), ...COMMENTED]
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    const named = (pattern: RegExp): string[] => {
      const all = [...text.matchAll(pattern)].map(([, name = '']) => name);
      expect(all.length, String(pattern)).toBeGreaterThan(0);
      return [...new Set(all)];
    };
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(named(/\bnpm run ([\w:-]+)/g).filter((name) => !(name in scripts))).toEqual([]);
    const files = [
      ...named(/(?<![\w./-])(?:node |run |--config\.file=)((?:test|deploy|scripts)\/[\w/-]+(?:\.\w+)*)/g),
      ...named(/`((?:\.ci|bench|deploy|docs|scripts|src|test)\/[\w./-]*)`/g),
      ...named(/\/usr\/share\/beaconchain-exporter\/((?:alertmanager|grafana|prometheus)\/[\w./-]*\w)/g).map(
        (path) => `deploy/${path}`,
      ),
    ];
    expect(files.filter((path) => !existsSync(path))).toEqual([]);
    const compose = readFileSync('deploy/compose/compose.yaml', 'utf8');
    const services = named(/docker compose (?:--env-file \S+ )?(?:restart|stop|start|logs --follow|exec) (\w+)/g);
    expect(services.filter((name) => !compose.includes(`\n  ${name}:`))).toEqual([]);
    const manifests = filesIn('deploy/kubernetes').map((file) => readFileSync(file, 'utf8'));
    const objects = named(/\b(?:deployment|service)\/([\w-]+)/g).filter((name) => name !== 'prometheus-k8s');
    expect(objects.filter((name) => !manifests.some((one) => one.includes(`name: ${name}\n`)))).toEqual([]);
  });

  it('the program reads every variable that a document names', () => {
    const compose = readFileSync('deploy/compose/compose.yaml', 'utf8');
    const variables = [
      'BEACONCHAIN_API_KEY',
      'BEACONCHAIN_API_KEY_FILE',
      ...PROGRAM.flags.map(({ name }) => `BEACONCHAIN_EXPORTER_${name.toUpperCase().replace(/[.-]/g, '_')}`),
      ...[...compose.matchAll(/\$\{(\w+)/g)].map(([, name]) => name),
    ];
    const unknown = [...DOCUMENTS, ...COMMENTED].flatMap((file) => {
      const named = readFileSync(file, 'utf8').match(/\b(?:BEACONCHAIN|GRAFANA)_[A-Z_]*[A-Z]\b/g) ?? [];
      return named.filter((name) => !variables.includes(name)).map((name) => `${file}: ${name}`);
    });
    expect(unknown).toEqual([]);
  });

  it('every page of the exporter that a document names answers', async () => {
    const { port } = await serveStatus();
    const pages = DOCUMENTS.flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(
        /http:\/\/localhost:10032(\/[\w./-]*\w\/?)?|`(\/(?:-\/(?:healthy|ready)|[a-z]+\/|metrics|[a-z]+\.json))`/g,
      ),
    ]).map(([, path, short]) => path ?? short ?? '/');
    expect(new Set(pages).size).toBeGreaterThan(4);
    for (const path of new Set(pages)) expect([path, (await ask(port, path)).status]).toEqual([path, 200]);
  });

  it('the program writes every log line that operations.md explains', () => {
    const [, table = ''] =
      /## Logs\n([\s\S]*?)(?:\n## |$(?![\s\S]))/.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
    const lines = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) => cell.match(/[^`]{3,}/g) ?? []);
    const source = filesIn('src')
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    expect(lines.length).toBeGreaterThan(8);
    expect(lines.filter((line) => !source.includes(`'${line}'`))).toEqual([]);
  });

  it('the checks read calls, links and anchors', () => {
    const all = <T>(of: (file: string) => T[]): number => DOCUMENTS.flatMap(of).length;
    expect(all(callsIn)).toBeGreaterThan(5);
    expect(all(targetsOf)).toBeGreaterThan(40);
    expect(isBroken('README.md', 'docs/alerts.md#beaconchainmachineoffline')).toBe(false);
    expect(isBroken('README.md', 'docs/alerts.md#no-such-alert')).toBe(true);
    expect(isBroken('docs/alerts.md', 'no-such-file.md')).toBe(true);
    expect(refusalOf(['serve', '--probe'])).toContain('unknown flag');
  });

  it.each(DOCUMENTS)('%s names only metrics that exist', (file) => {
    const known = new Set(ALL_FAMILIES.map(([name]) => `beaconchain_${name}`));
    const { prose, blocks } = read(file);
    const queries = blocks.filter(({ language }) => language === 'promql').map((block) => block.text);
    const text = [prose, ...queries].join('\n');
    const named = [...text.matchAll(/\bbeaconchain_[a-z0-9_]*[a-z0-9](?![\w*{]*\*|_)/g)].map(([name]) =>
      name.replace(/_bucket$/, ''),
    );
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it('every section of api-facts.md that a comment names exists', () => {
    const numbers = new Set(
      [...read('docs/internals/api-facts.md').prose.matchAll(/^#+ (\d+(?:\.\d+)?)\.? /gm)].map(([, n]) => n),
    );
    const pointers = ['src', 'test', 'bench', 'scripts', 'deploy']
      .flatMap(filesIn)
      .flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(/\bapi-facts,? (\d+(?:\.\d+)?)/g)].map(([, n]) => `${file}: ${n}`),
      );
    expect(pointers.length).toBeGreaterThan(50);
    expect(pointers.filter((one) => !numbers.has(one.split(': ')[1]))).toEqual([]);
  });

  it('every file that architecture.md names exists', () => {
    const { prose } = read('docs/internals/architecture.md');
    const files = [...prose.matchAll(/`([\w-]+(?:\/[\w-]+)*\.ts)`/g)].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter((path) => !existsSync(path) && !existsSync(join('src', path)))).toEqual([]);
  });

  it('README.md is short, and the documents count alerts and dashboards correctly', () => {
    const rules = ['rules.yaml', 'rules-extra.yaml'].map((file) => {
      const { length } = [...readFileSync(`deploy/prometheus/${file}`, 'utf8').matchAll(/^ +- alert: /gm)];
      expect(readFileSync('docs/alerts.md', 'utf8')).toContain(
        `| [${file}](../deploy/prometheus/${file}) | ${length} |`,
      );
      return length;
    });
    const dashboards = readdirSync('deploy/grafana/dashboards').length;
    expect(readFileSync('README.md', 'utf8').split(/\s+/).length).toBeLessThan(450);
    expect(readFileSync('docs/alternatives.md', 'utf8')).toContain(
      `| ${rules.reduce((sum, count) => sum + count)} rules with tests, ${dashboards} dashboards |`,
    );
  });
});
