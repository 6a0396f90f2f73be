import { describe, expect, it } from 'vitest';
import { ENDPOINT_NAMES, type Endpoint } from '../../../src/api/endpoints.ts';
import { RequestFailed } from '../../../src/api/errors.ts';
import { mayBeAbsent, type Reply, replyOf } from '../../../src/commands/probe/probe.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { saidBy } from '../../support/answers/known-request.ts';
import { LEGACY_QUEUES, QUEUES } from '../../support/answers/network-answers.ts';
import { epochRows } from '../../support/answers/slot-rows.ts';
import { identifiersOf } from '../../support/answers/validators.ts';
import { NOW, questionTo } from './questions.ts';

const EPOCH = 479_000;
const SLOTS = { data: epochRows(EPOCH, { 1: { status: '2' } }) };

/** How many records the answers of the sandbox have. Its epoch has just begun. */
const RECORDS: Readonly<Record<Endpoint, number>> = {
  machine_metrics: 30,
  machine_names: 5,
  daily_returns: 1,
  sync_committee: 1,
  sync_committee_members: 1,
  validators: 10,
  validators_performance: 1,
  validators_rewards: 1,
  validators_performance_list: 10,
  validators_rewards_list: 10,
  block_rewards: 1,
  network_performance: 1,
  queues: 1,
  epoch_slots: 6,
  attester_slashings: 1,
  proposer_slashings: 1,
};
const SANDBOX = new Sandbox();

/** What the sandbox answers. The block that is asked about has slashings of both kinds. */
function answerTo(endpoint: Endpoint): unknown {
  // Without known slots there is no block to ask about.
  const { path, body, accept } = questionTo(endpoint, endpoint === 'block_rewards' ? SLOTS : undefined).request;
  const { slashed } = SANDBOX.chains.mainnet;
  const slot = Number(path.match(/\d{6,}/)?.[0]);
  for (const offence of ['attester', 'proposer'] as const) slashed[offence].set(slot, [5]);
  return saidBy(SANDBOX, { path, body: JSON.stringify(body), accept }, NOW);
}

function replyTo(endpoint: Endpoint, result: unknown): Reply {
  return replyOf(questionTo(endpoint), 'mainnet', undefined, result);
}

/** The same JSON without any member of this name. */
function without(json: unknown, name: string): unknown {
  return JSON.parse(JSON.stringify(json), (key, value) => (key === name ? undefined : value));
}

describe('commands/probe: replies', () => {
  it.each(ENDPOINT_NAMES)('finds no field missing in a complete answer of %s', (endpoint) => {
    const reply = replyTo(endpoint, answerTo(endpoint));
    expect(reply).toMatchObject({ failure: undefined, read: RECORDS[endpoint], unreadable: 0 });
    expect(reply.absent.filter((field) => !mayBeAbsent(field))).toEqual([]);
  });

  it.each<[Endpoint, string, string[]]>([
    ['daily_returns', 'moving_averages', ['data[].moving_averages']],
    [
      'daily_returns',
      'execution_layer',
      ['rewards', 'apr', 'moving_averages.window_7d.apr'].map((of) => `data[].${of}.execution_layer`),
    ],
    ['epoch_slots', 'exec_gas_used', ['data[].exec_gas_used']],
    ['machine_metrics', 'misc_os', ['data.system_metrics[].misc_os']],
    ['queues', 'deposit_balance', ['data.deposit_queue.deposit_balance']],
    ['network_performance', 'correct_head', ['data.duties.attestation.correct_head']],
  ])('finds that an answer of %s lacks %s', (endpoint, name, fields) => {
    expect(replyTo(endpoint, without(answerTo(endpoint), name)).absent).toEqual(expect.arrayContaining(fields));
  });

  it('allows an answer without a cursor or without zeros of machines', () => {
    const fields = ['paging', 'paging.next_cursor', 'data.node_metrics', 'data.system_metrics[].misc_os'];
    expect(fields.filter(mayBeAbsent)).toEqual(fields);
    expect(['data', 'data[].apr', 'pagings', 'data.period', 'data.validators'].filter(mayBeAbsent)).toEqual([]);
  });

  it('reads queues in the form before v2.1, and names the fields that it lacks', () => {
    const fields = ['deposit_balance', 'topup_count', 'topup_balance'].map((name) => `data.deposit_queue.${name}`);
    expect(replyTo('queues', LEGACY_QUEUES)).toMatchObject({
      failure: undefined,
      absent: [...fields, 'data.exit_queue.count'],
    });
  });

  it.each([
    [{ slot: 'x' }, 'slot: Invalid input: expected number, received string'],
    [{ exec_gas_used: -1 }, 'exec_gas_used: Too small: expected number to be >=0'],
  ])('counts records that cannot be read in whole or in part, and says why: %j', (fields, reason) => {
    const data = SLOTS.data.map((row, i) => (i < 2 ? { ...row, ...fields } : row));
    const reply = replyTo('epoch_slots', { data });
    expect(reply).toMatchObject({ read: 30, unreadable: 2, failure: undefined, firstReason: reason });
  });

  it('counts an answer without records as unreadable if one field is odd', () => {
    const { deposit_queue, exit_queue } = QUEUES.data;
    const odd = { data: { deposit_queue, exit_queue: { ...exit_queue, count: 'many' } } };
    expect(replyTo('queues', odd)).toMatchObject({ read: 0, unreadable: 1, failure: undefined });
  });

  it('reads a 404 about validators as none found, and any other 404 as a failure', () => {
    const notFound = new RequestFailed('validators', 'not_found', '404');
    for (const endpoint of ['validators', 'validators_performance'] as const) {
      expect(replyTo(endpoint, notFound)).toMatchObject({ failure: undefined, read: 0 });
    }
    expect(replyTo('sync_committee_members', notFound)).toMatchObject({ failure: notFound });
  });

  it('asks about ten watched validators, and about twenty for their duties', () => {
    const endpoints = ['validators', 'validators_performance'] as const;
    const asked = endpoints.map((endpoint) => identifiersOf(questionTo(endpoint).request));
    expect(asked).toEqual([10, 20].map((count) => Array.from({ length: count }, (_, i) => i + 1)));
    expect(questionTo('validators', undefined, 1).request.body).toEqual({
      chain: 'mainnet',
      validator: { validator_identifiers: [1] },
      page_size: 10,
    });
  });

  it('asks about a slot with a slashing, or else about the last block', () => {
    const pathsOf = (slots: unknown): string[] =>
      (['attester_slashings', 'proposer_slashings'] as const).map((one) => questionTo(one, slots).request.path);
    const announced = { data: epochRows(EPOCH, { 3: { attesterslashingscount: 1 }, 31: { status: '0' } }) };
    expect(pathsOf(announced)).toEqual([
      `/api/v1/slot/${EPOCH * 32 + 3}/attesterslashings`,
      `/api/v1/slot/${EPOCH * 32 + 30}/proposerslashings`,
    ]);
    for (const path of pathsOf(undefined))
      expect(path).toMatch(/^\/api\/v1\/slot\/\d{8}\/(attester|proposer)slashings$/);
  });
});
