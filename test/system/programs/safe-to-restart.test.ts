import { describe, expect, it } from 'vitest';
import { membersAnswer } from '../../../src/sandbox/sync-committee.ts';
import { publicKeyOf } from '../../../src/sandbox/validator.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import {
  committeeOf,
  EPOCH,
  PERIOD,
  startOfEpoch,
  validatorRow,
  validatorsAnswer,
} from '../../support/answers/validators.ts';
import type { Fault } from '../../support/faults/fault-server.ts';
import { startService } from '../../support/faults/service.ts';
import { configFile } from '../../support/files/files.ts';
import { ahead, asking, ran } from '../../support/programs/program.ts';

const MINUTE = 60_000;
/** A period of mainnet that begins years after this test. */
const FIRST = 3_000;
const START = startOfEpoch(FIRST * 256);
const END = new Date(START + PERIOD).toISOString().slice(0, 19).replace('T', ' ');

interface Given {
  /** Milliseconds from the start of the period. */
  readonly at?: number;
  /** The first seats of both committees; undefined: not known. */
  readonly seats?: readonly number[];
  readonly next?: readonly number[] | undefined;
  readonly flag?: string;
  readonly request?: Fault['request'];
  readonly watch?: string;
  /** The answer about the status of validators. */
  readonly validators?: unknown;
}

const KEY = publicKeyOf(new Sandbox().chains.mainnet, 7);

function statusOf(index: number): unknown {
  return validatorsAnswer(FIRST * 256, [validatorRow(index)]);
}

async function asked(given: Given) {
  const { at = 10 * EPOCH, seats = [], next, flag = '--safe-to-restart', request, watch = '"1-9"' } = given;
  const answerOf = (selector: string): unknown => {
    if (selector === String(FIRST)) return membersAnswer(FIRST, committeeOf(seats));
    return membersAnswer(FIRST + 1, selector === 'next' && next ? committeeOf(next) : undefined);
  };
  const usual: Fault['request'] = ({ path }) => ({
    status: 200,
    body: JSON.stringify(path.endsWith('validators') ? given.validators : answerOf(path.split('/').at(-1) ?? '')),
  });
  const service = await startService('the-key', { request: request ?? usual });
  const file = configFile(`${asking(service.url)}validators: {watch: [${watch}]}\n`);
  const env = { BEACONCHAIN_API_KEY: 'the-key', ...ahead(START + at - Date.now()) };
  const ended = await ran(['check', `--config.file=${file}`, flag], env);
  return { ...ended, selectors: service.requests.map(({ path }) => path.split('/').at(-1)) };
}

describe.concurrent('check --safe-to-restart (docs/validators.md, Before a restart)', () => {
  it('answers yes until a time if no validator is a member now or in the next period', async () => {
    const { code, stdout, stderr, selectors } = await asked({ next: [] });
    expect(stderr).toBe('');
    expect(stdout).toBe(`yes: no watched validator of mainnet is in a sync committee until ${END} UTC\n`);
    expect(code).toBe(0);
    expect(selectors).toEqual([String(FIRST), 'next']);
  });

  it.each<[string, Given, string]>([
    [
      'a member now',
      { seats: [100, 7, 7] },
      `no: in the mainnet sync committee until ${END} UTC: 1 watched validator (7)`,
    ],
    [
      'a member by its public key',
      { seats: [100, 7], watch: `"${KEY}"`, validators: statusOf(7) },
      `no: in the mainnet sync committee until ${END} UTC: 1 watched validator (7)`,
    ],
    [
      'public keys whose indices cannot be read',
      { watch: `1, "${KEY}"`, validators: {} },
      'not known for mainnet: the public keys have no index yet: validators: invalid_body',
    ],
    [
      'a member within the given time',
      { next: [3, 100, 5], at: PERIOD - 5 * 60 * MINUTE, flag: '--safe-to-restart=6h' },
      `no: in the mainnet sync committee from ${END} UTC: 2 watched validators (3, 5)`,
    ],
    [
      'not known within the time',
      { at: PERIOD - 20 * MINUTE },
      `not known for the mainnet sync committee from ${END} UTC: the service does not know the members yet`,
    ],
    [
      'a failure',
      { request: () => ({ status: 400, body: '{"status":"ERROR: no","data":null}' }) },
      `not known for the mainnet sync committee until ${END} UTC: sync_committee_members: bad_request (status 400)`,
    ],
  ])('exits with 5 and one line of reason: %s', async (_, given, line) => {
    const { code, stdout, selectors } = await asked(given);
    expect(stdout).toContain(line);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(5);
    expect(selectors.length).toBeLessThanOrEqual(3);
  });
});
