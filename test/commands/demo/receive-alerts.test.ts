import { expect, it } from 'vitest';
import { receiveAlerts } from '../../../src/commands/demo.ts';
import { NOW } from '../../support/time/timing.ts';

const TIME = new Date(NOW).toTimeString().slice(0, 8);

/** What is answered to a POST with this body, and what is printed. */
function post(body: unknown, path = '/alerts') {
  let printed = '';
  const answer = receiveAlerts({ path, body: JSON.stringify(body) }, NOW, (words) => {
    printed += words;
  });
  return { answer, printed };
}

const OFFLINE = {
  status: 'firing',
  labels: { alertname: 'BeaconchainMachineOffline', severity: 'critical', chain: 'mainnet', machine: 'node-a' },
  annotations: {
    summary: 'Machine node-a (mainnet) is silent',
    description: 'not printed',
    runbook_url: 'http://localhost:10032/docs/alerts#beaconchainmachineoffline',
  },
  startsAt: '2026-11-22T16:00:00Z',
};

it('prints severity, name, summary and runbook of each alert that fires or is resolved', () => {
  const { answer, printed } = post({ version: '4', alerts: [OFFLINE, { ...OFFLINE, status: 'resolved' }] });
  expect(answer).toMatchObject({ status: 200 });
  const line =
    'critical BeaconchainMachineOffline: Machine node-a (mainnet) is silent ' +
    'http://localhost:10032/docs/alerts#beaconchainmachineoffline\n';
  expect(printed).toBe(`${TIME} ALERT firing ${line}${TIME} RESOLVED ${line}`);
});

it('escapes control characters', () => {
  const { printed } = post({ alerts: [{ ...OFFLINE, labels: { alertname: '\u001b[2J\u009b2J\r\u202eX' } }] });
  expect(printed).toContain(String.raw`\u001b[2J\u009b2J\r\u202eX`);
});

it('leaves every other path to the service', () => {
  for (const path of ['/', '/alerts/', '/-/silence', '/api/v2/alerts']) expect(post('', path).answer).toBeUndefined();
});
