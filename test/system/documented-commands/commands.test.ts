import { existsSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM } from '../../../src/commands/flag-table.ts';
import type { Respond } from '../../support/faults/fault-server.ts';
import { startService } from '../../support/faults/service.ts';
import { ask } from '../../support/network/ask.ts';
import { FAST, KEY } from '../../support/programs/backfill.ts';
import { ANY_PORT, ordersPort, portOf, startExporter } from '../../support/programs/program.ts';
import { startAlertmanager } from '../../support/tools/alertmanager.ts';
import { ALERTMANAGER, AMTOOL, areMissing, CURL, JQ, KUBECTL, PROMTOOL } from '../../support/tools/tools.ts';
import { COMMENTED, type Command, commandsOf, DOCUMENTS } from './documents.ts';
import { EXCEPTIONS, exceptionOf, RUN_ELSEWHERE } from './exceptions.ts';
import { type Package, type Ports, packed, Reader } from './reader.ts';

const FILES = [...DOCUMENTS, ...COMMENTED].filter((file) => commandsOf(file).length > 0);
const COMMANDS = FILES.flatMap(commandsOf);

function isRunElsewhere({ file, heading, isBlock, text }: Command): boolean {
  const ofFile = RUN_ELSEWHERE.filter(([document]) => isBlock && document === file);
  return ofFile.some(([, block]) => block === heading || text.startsWith(block));
}

/** A machine that began to report twenty minutes ago, because 31 days take too many requests for a test. */
function lateMachine(): Respond {
  const begin = Date.now() / 1000 - 1_200;
  const data = { system_metrics: [], validator_metrics: [], node_metrics: [] };
  return ({ path, body }, genuine) => {
    if (!path.endsWith('/machine-metrics') || JSON.parse(body).range.timestamp.end >= begin) return undefined;
    return { ...genuine(), body: JSON.stringify({ data, paging: { next_cursor: '' } }) };
  };
}

/** The demo, where documents ask it, and an Alertmanager. */
async function startPorts(): Promise<Ports> {
  const demo = startExporter(['demo', ANY_PORT, '--log.format=json']);
  const [web, control, { port }] = await Promise.all([
    portOf(demo),
    ordersPort(demo).then(Number),
    startAlertmanager(() => readFileSync('deploy/alertmanager/alertmanager.yml', 'utf8')),
  ]);
  return { 10032: web, 10033: control, 10034: control, 9093: port, 9193: port };
}

describe.skipIf(areMissing(PROMTOOL, AMTOOL, ALERTMANAGER, CURL, JQ, KUBECTL))('system/documented-commands', () => {
  const met = new Set<string>();
  /** Many documents name the same commands. */
  const done = new Set<string>();
  let url = '';
  let ports: Ports = {};
  let program: Package;
  beforeAll(async () => {
    program = packed();
    ports = await startPorts();
    ({ url } = await startService(KEY, { ...FAST, machines: 1, request: lateMachine() }));
  });

  it.each(FILES)('every command of %s does what it says', async (file) => {
    const wrong: string[] = [];
    const toRun = commandsOf(file).filter((command) => {
      const exception = command.isBlock ? undefined : exceptionOf(command.text);
      if (exception !== undefined) met.add(exception);
      return exception === undefined && !isRunElsewhere(command) && !done.has(command.text);
    });
    if (toRun.length === 0) return;
    const reader = new Reader(url, program, ports);
    for (const command of toRun) {
      wrong.push(...(await reader.run(command)));
      if (!command.isBlock) done.add(command.text);
    }
    for (const exception of reader.skipped()) met.add(exception);
    expect(wrong).toEqual([]);
  });

  it('a command that nothing runs fails, with its file and line', async () => {
    const reader = new Reader(url, program, ports);
    const [command = expect.fail()] = COMMANDS;
    for (const [text, why] of [
      ['no-such-program --flag', 'command not found'],
      ['npm run no-such-script', 'Missing script'],
      ['beaconchain-exporter check --no-such-flag', 'unknown flag'],
      ['docker compose --env-file demo.env restart no-such-service', 'there is no service no-such-service'],
      ['kubectl rollout restart deployment/no-such', 'no no-such in the manifests'],
    ] as const) {
      const folder = text.includes('compose') ? 'deploy/compose' : '.';
      const [wrong] = await reader.run({ ...command, heading: text, folder, text, file: 'A.md', line: 7 });
      expect(wrong).toMatch(/^A\.md:7: ended with [1-9]/);
      expect(wrong).toContain(why);
    }
  });

  it('every overlay that a document shows can be built', async () => {
    const reader = new Reader(url, program, ports);
    const shown = COMMANDS.filter(({ overlay }, index) => overlay !== '' && overlay !== COMMANDS[index - 1]?.overlay);
    expect(shown).toHaveLength(2);
    for (const command of shown) expect(await reader.run({ ...command, text: 'kubectl apply -k .' })).toEqual([]);
  });

  it('every page of the exporter that a document names answers', async () => {
    const pages = DOCUMENTS.flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(
        /http:\/\/localhost:10032(\/[\w./-]*\w\/?)?|`(\/(?:-\/(?:healthy|ready)|[a-z]+\/|metrics|[a-z]+\.json))`/g,
      ),
    ]).map(([, path, short]) => path ?? short ?? '/');
    expect(new Set(pages).size).toBeGreaterThan(4);
    for (const path of new Set(pages)) {
      const { status } = await ask(ports[10032] ?? 0, path);
      expect([path, status]).toEqual([path, 200]);
    }
  });

  it('every exception is needed', () => {
    expect(EXCEPTIONS.map(([command]) => command).filter((command) => !met.has(command))).toEqual([]);
  });
});

describe('system/documented-commands', () => {
  it('what another test runs is there', () => {
    const blocks = COMMANDS.filter(isRunElsewhere);
    expect(blocks).toHaveLength(RUN_ELSEWHERE.length);
    for (const [, block, test] of RUN_ELSEWHERE) expect(readFileSync(test, 'utf8')).toContain(block);
  });

  it('every script and every file of a command or between words is there', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const texts = [...COMMANDS.map(({ text }) => text), ...DOCUMENTS.map((file) => readFileSync(file, 'utf8'))].join(
      '\n',
    );
    const run = [...texts.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name);
    expect(run.length).toBeGreaterThan(3);
    expect(run.filter((name) => !(name in scripts))).toEqual([]);
    const files = [
      ...texts.matchAll(/(?<![\w./-])(?:node |run |--config\.file=)((?:test|deploy|scripts)\/[\w/-]+(?:\.\w+)*)/g),
      ...texts.matchAll(/`((?:\.ci|bench|deploy|docs|scripts|src|test)\/[\w./-]*)`/g),
    ].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThan(3);
    expect(files.filter((path) => !existsSync(path))).toEqual([]);
  });

  it('every variable of ours that a document names is read', () => {
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
});
