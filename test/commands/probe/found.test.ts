import { describe, expect, it } from 'vitest';
import { RequestFailed } from '../../../src/api/errors.ts';
import { foundIn } from '../../../src/commands/probe/found.ts';
import { replyOf } from '../../../src/commands/probe/probe.ts';
import { accountQuestions, chainQuestions } from '../../../src/commands/probe/questions.ts';
import { machinesPage, systemRecord } from '../../support/answers/machine-records.ts';
import { validatorRow } from '../../support/answers/validators.ts';
import { defaultConfig } from '../../support/runs/default-config.ts';

const NOW = 1_790_769_700_000;
const RECORDS = machinesPage({ system: [systemRecord({ machine: 'node-a' })] });
const FAILED = new RequestFailed('machine_names', 'forbidden', '403');

/** What is found in answers about machines, if these are the settings. */
function machinesFound(names: unknown, expected: readonly string[], ofGroup: readonly string[] = []): string[] {
  const config = defaultConfig();
  const [records, list] = accountQuestions(NOW);
  return foundIn(
    {
      ...config,
      machines: { ...config.machines, expected: [...expected] },
      groups: [{ name: 'home', machines: [...ofGroup], watch: { mainnet: [], hoodi: [] } }],
    },
    [replyOf(records, undefined, RECORDS), replyOf(list, undefined, names)],
  );
}

/** What is found in an answer about the first of the watched validators 1 to `last`. */
function validatorsFound(last: number, answer: unknown): string[] {
  const config = defaultConfig();
  const watch = [{ first: 1, last }];
  const question = chainQuestions('mainnet', watch, NOW)[3];
  if (!question) throw new TypeError('no question about validators');
  const validators = { ...config.validators, watch: { mainnet: watch, hoodi: [] } };
  return foundIn({ ...config, validators }, [replyOf(question, undefined, answer)]);
}

function rows(...indices: number[]): object {
  return { data: indices.map((index) => validatorRow(index)), range: { epoch: { start: 1, end: 1 } } };
}

describe('commands/probe: what it found', () => {
  it('names the machines of both answers, and those of the configuration that the service does not list', () => {
    const found = machinesFound(
      { data: ['node-b', 'node-c\n'] },
      ['Node-A', 'node-b', 'other'],
      ['home-*', 'node-?', 'n*'],
    );
    expect(found).toEqual([
      String.raw`Machines in these answers: node-a, node-b, node-c\u000a.`,
      'machines.expected: the service lists no machine Node-A, but node-a.',
      'machines.expected: the service lists no machine other.',
      'groups.home.machines: the service lists no machine home-*.',
      'groups.home.machines: the service lists no machine node-?, but node-a.',
    ]);
  });

  it('does not take another expected machine for the one that was meant', () => {
    expect(machinesFound({ data: ['node-1', 'node-2'] }, ['node-a', 'node-1', 'node-2', 'node-3'])[1]).toBe(
      'machines.expected: the service lists no machine node-3.',
    );
  });

  it.each([FAILED, { data: ['node-b', 5] }])('misses no machine if the list of names is not whole: %j', (names) => {
    const found = machinesFound(names, ['node-x']);
    expect(found).toHaveLength(1);
  });

  it.each([
    ['knows all of these', 3, rows(1, 2, 3), 'asked for 3 of 3 watched ones, the service knows all of these'],
    [
      'knows some',
      99,
      rows(1, 2, 3, 4, 6, 7, 8, 9),
      'asked for 10 of 99 watched ones, the service does not know 5, 10',
    ],
    [
      'knows none',
      2,
      new RequestFailed('validators', 'not_found', '404'),
      'asked for 2 of 2 watched ones, the service does not know 1, 2',
    ],
  ])('says of validators of which the service %s how many were asked for', (_, last, answer, text) => {
    expect(validatorsFound(last, answer)).toEqual([`Validators of mainnet: ${text}.`]);
  });

  it.each([
    ['failed', new RequestFailed('validators', 'forbidden', '403')],
    ['has a row that cannot be read', { ...rows(1), data: [validatorRow(1), {}] }],
    ['goes on', { ...rows(1), paging: { next_cursor: 'x' } }],
  ])('calls no validator unknown if the answer %s', (_, answer) => {
    expect(validatorsFound(3, answer)).toEqual([]);
  });
});
