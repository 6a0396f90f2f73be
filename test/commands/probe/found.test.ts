import { describe, expect, it } from 'vitest';
import { RequestFailed } from '../../../src/api/errors.ts';
import { foundIn, replyOf } from '../../../src/commands/probe/probe.ts';
import { nameOf } from '../../../src/facts/watch.ts';
import { publicKeyOf } from '../../../src/sandbox/validator.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import type { Question } from '../../../src/sources/probe.ts';
import { ConfigFile, sourcesOf } from '../../../src/sources/registry.ts';
import { machinesPage, systemRecord } from '../../support/answers/machine-records.ts';
import { validatorRow } from '../../support/answers/validators.ts';
import { defaultConfig } from '../../support/runs/default-config.ts';
import { NOW, questionTo } from './questions.ts';

const CONFIG = defaultConfig();
const WORLD = new Sandbox().chains.mainnet;
const REFUSED = new RequestFailed('validators', 'forbidden', '403');

/** What the probe finds in answers about node-a and other machines. */
function machinesFound(names: unknown, expected: string[], machines: string[] = []): string[] {
  const groups = [{ name: 'home', machines, watch: { mainnet: [], hoodi: [] } }];
  const records = machinesPage({ system: [systemRecord({ machine: 'node-a' })] });
  return foundIn({ ...CONFIG, machines: { ...CONFIG.machines, expected }, groups }, [
    replyOf(questionTo('machine_metrics'), undefined, undefined, records),
    replyOf(questionTo('machine_names'), undefined, undefined, names),
  ]);
}

function answerWith(indices: readonly number[], cursor = '') {
  const data = indices.map((index) => validatorRow(index));
  return { data, range: { epoch: { start: 1, end: 1 } }, paging: { next_cursor: cursor } };
}

describe('commands/probe: what it found', () => {
  it('names all listed machines, and configured ones that the service does not list', () => {
    const expected = ['Node-A', 'node-b', 'node-d', 'other'];
    expect(machinesFound({ data: ['node-b', 'c\n'] }, expected, ['home-*', 'nod-b', 'n*', 'node-a'])).toEqual([
      String.raw`Machines in these answers: c\n, node-a, node-b.`,
      'machines.expected: the service lists no machine Node-A, but node-a.',
      'machines.expected: the service lists no machine node-d, but node-a.',
      'machines.expected: the service lists no machine other.',
      'groups.home.machines: the service lists no machine home-*.',
      'groups.home.machines: the service lists no machine nod-b, but node-b.',
    ]);
    expect(machinesFound({ data: [] }, ['node-a', 'node-x'])[1]).toMatch(/no machine node-x\.$/);
  });

  it.each([REFUSED, { data: ['node-b', 5] }])(
    'calls no machine missing if the list of names is incomplete: %j',
    (names) => {
      expect(machinesFound(names, ['node-x'])).toHaveLength(1);
    },
  );

  it.each([
    ['asked for 10 of 99 watched ones, the service does not know 9, 10', 99, answerWith([1, 2, 3, 4, 5, 6, 7, 8])],
    ['asked for 1 of 1 watched ones, the service knows all of these', 1, answerWith([1])],
    [
      'asked for 2 of 2 watched ones, the service does not know 1, 2',
      2,
      new RequestFailed('validators', 'not_found', ''),
    ],
    ['', 2, REFUSED],
    ['', 2, answerWith([1, -5])],
    ['', 2, answerWith([1], 'next')],
  ])('names unknown validators only if the answer is complete: %s', (text, last, answer) => {
    const watch = { mainnet: [{ first: 1, last }], hoodi: [] };
    const found = foundIn({ ...CONFIG, validators: { ...CONFIG.validators, watch } }, [
      replyOf(questionTo('validators', undefined, last), 'mainnet', undefined, answer),
    ]);
    expect(found).toEqual(text ? [`Validators of mainnet: ${text}.`] : []);
  });

  it('gives the index and status of each public key that it asked for', () => {
    const keys = Array.from({ length: 12 }, (_, i) => publicKeyOf(WORLD, i + 1));
    const config = ConfigFile.parse({ chains: { mainnet: {}, hoodi: {} }, validators: { watch: keys } });
    const [question] = sourcesOf(config)
      .flatMap(({ more }) => more?.probe?.questions(() => NOW) ?? [])
      .filter(({ request }) => request.endpoint === 'validators');
    const withoutIndex = { validator: { index: null, public_key: keys[8] }, status: 'pending_queued' };
    const rows = [1, 2, 3, 4, 5, 6, 7, 8].map((index) => validatorRow(index));
    const answer = { data: [...rows, { ...validatorRow(9), ...withoutIndex }], paging: { next_cursor: '' } };
    const [known, found] = foundIn(config, [
      replyOf(question as Question, 'mainnet', undefined, { ...answer, range: { epoch: { start: 1, end: 1 } } }),
    ]);
    const [first, , , , , , , , ninth, tenth] = keys.map(nameOf);
    // The answer about the other chain says whether it has the key.
    expect(known).toBe(`Validators of mainnet: asked for 10 of 12 watched ones, the service does not know ${tenth}.`);
    expect(found).toContain(`Public keys of mainnet: ${first} is 1 (active_ongoing), `);
    expect(found).toContain(`, ${ninth} is without an index (pending_queued).`);
  });

  it('asks for sums and an epoch of the indices that it found, if only keys are configured', () => {
    const config = ConfigFile.parse({ validators: { watch: [publicKeyOf(WORLD, 7)] } });
    const questions = sourcesOf(config).flatMap(({ more }) => more?.probe?.questions(() => NOW) ?? []);
    const question = questions.find(({ request }) => request.endpoint === 'validators');
    const bodies = question?.next?.(answerWith([7])).map(({ request }) => JSON.stringify(request.body));
    expect(bodies).toHaveLength(4);
    for (const body of bodies ?? []) expect(body).toContain('"validator_identifiers":[7]');
    expect(questions.filter(({ request }) => request.endpoint === 'validators_performance')).toEqual([]);
  });
});
