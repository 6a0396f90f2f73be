import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { receiveAlerts } from '../../../src/commands/demo.ts';
import { NOW } from '../../support/time/timing.ts';

const TIME = new Date(NOW).toTimeString().slice(0, 8);

/** What is answered to a POST with this body, and what is printed. */
function post(body: unknown, path = '/alerts', method = 'POST') {
  let printed = '';
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = receiveAlerts({ method, path, body: text }, NOW, (words) => {
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

describe('commands/demo/receive-alerts', () => {
  it('prints a line for each alert: what, how bad, in words, and what to do; and one when it is resolved', () => {
    const { answer, printed } = post({ version: '4', alerts: [OFFLINE, { ...OFFLINE, status: 'resolved' }] });
    expect(answer).toMatchObject({ status: 200 });
    const line =
      'critical BeaconchainMachineOffline: Machine node-a (mainnet) is silent ' +
      'http://localhost:10032/docs/alerts#beaconchainmachineoffline\n';
    expect(printed).toBe(`${TIME} ALERT firing ${line}${TIME} RESOLVED ${line}`);
  });

  it('escapes control characters and cuts long texts, whatever the texts are', () => {
    const texts = fc.dictionary(
      fc.constantFrom('alertname', 'severity', 'chain', 'machine', 'validator', 'source', 'summary', 'runbook_url'),
      fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary', minLength: 1000, maxLength: 1100 })),
    );
    fc.assert(
      fc.property(texts, fc.constantFrom('firing', 'resolved'), (given, status) => {
        const { printed } = post({ alerts: [{ status, labels: given, annotations: given }] });
        expect(printed.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
        expect(printed.endsWith('\n')).toBe(true);
        // A character of two code units, escaped, is twelve.
        expect(printed.length).toBeLessThan(12 * (4 * 200) + 200);
      }),
    );
    const clears = post({ alerts: [{ ...OFFLINE, labels: { alertname: '\u001b[2J\u009b2J\r\u202eX' } }] }).printed;
    expect(clears).toContain(String.raw`\u001b[2J\u009b2J\u000d\u202eX`);
    const long = post({ alerts: [{ ...OFFLINE, annotations: { summary: 'x'.repeat(300) } }] }).printed;
    expect(long).toContain(`: ${'x'.repeat(199)}…\n`);
  });

  it.each(['', '{"alerts": [', '{}', '{"alerts": [{"status": "firing", "labels": {"a": 1}}]}'])(
    'refuses %s, and prints nothing',
    (body) => {
      const { answer, printed } = post(body);
      expect([answer?.status, printed]).toEqual([400, '']);
    },
  );

  it('takes nothing but POST, and no other path', () => {
    expect(post('', '/alerts', 'GET').answer).toMatchObject({ status: 405 });
    for (const path of ['/', '/alerts/', '/-/silence', '/api/v2/alerts']) expect(post('', path).answer).toBeUndefined();
  });
});
