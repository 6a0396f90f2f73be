import { expect, it } from 'vitest';
import type { Endpoint } from '../../src/api/endpoints.ts';
import { type FailureReason, RequestFailed } from '../../src/api/errors.ts';
import { isRefusal } from '../../src/api/refusal.ts';

const PASSING = ['server_error', 'timeout', 'network', 'rate_limited', 'unauthorized', 'invalid_body'] as const;

it.each<[Endpoint, FailureReason, boolean]>([
  ['proposer_slashings', 'bad_request', true],
  ['validators', 'bad_request', false],
  ['machine_names', 'bad_request', false],
  ['network_performance', 'bad_request', false],
  ['queues', 'bad_request', false],
  ['machine_names', 'not_found', true],
  ['sync_committee_members', 'not_found', true],
  ['validators', 'not_found', false],
  ['validators_performance', 'not_found', false],
  ['validators_performance', 'forbidden', true],
  ['validators_rewards', 'not_found', false],
  ['validators_rewards', 'forbidden', true],
  ['validators_rewards', 'bad_request', false],
  ['validators', 'unexpected_status', false],
  ...PASSING.map((reason): [Endpoint, FailureReason, boolean] => ['proposer_slashings', reason, false]),
])('%s: %s is a refusal: %s', (endpoint, reason, is) => {
  expect(isRefusal(new RequestFailed(endpoint, reason, 'made up'))).toBe(is);
});
