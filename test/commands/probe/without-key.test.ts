import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../src/api/endpoints.ts';
import type { Answer, Transport, WireRequest } from '../../../src/api/transport.ts';
import { costOfForms, formsReport, formsVerdict, tryForms } from '../../../src/commands/probe/without-key.ts';
import { ConfigFile } from '../../../src/sources/registry.ts';
import { refusalOf } from '../../support/answers/known-request.ts';
import { writtenAnswer } from '../../support/answers/written-answer.ts';
import { defaultConfig } from '../../support/runs/default-config.ts';
import { VirtualClock } from '../../support/time/virtual-clock.ts';

function answer(status: number, body = '{"error": "unauthorized"}'): Answer {
  return writtenAnswer({ status, headers: { 'content-type': 'application/json' }, body });
}

/** The requests, when each was sent, and what the probe concludes. */
async function tried(respond: (request: WireRequest) => Answer | Error) {
  const clock = new VirtualClock(Date.UTC(2026, 9, 1));
  const sent: { request: WireRequest; at: number }[] = [];
  const send: Transport = async (request) => {
    sent.push({ request, at: clock.monotonic() });
    const one = respond(request);
    if (one instanceof Error) throw one;
    return one;
  };
  const all = tryForms({ config: defaultConfig() }, send, clock);
  await clock.advance(60_000);
  return { sent, all: await all };
}

describe('check --probe --without-key', () => {
  it('announces how many requests it sends to which host, all about the first chain', () => {
    const config = ConfigFile.parse({ chains: { mainnet: {}, hoodi: {} } });
    expect(costOfForms({ config }, 0)).toBe('17 requests without a key, one a second, to https://beaconcha.in');
  });

  it('sends each form once, one a second, without a key', async () => {
    const { sent, all } = await tried(() => answer(401));
    expect(new Set(sent.map(({ request }) => request.endpoint))).toEqual(new Set(Object.keys(ENDPOINTS)));
    expect(sent.length).toBe(Object.keys(ENDPOINTS).length + 1);
    for (const [i, { request, at }] of sent.entries()) {
      const { path, body = '', headers } = request;
      expect([path, refusalOf({ path, body, accept: headers['accept'] })]).toEqual([path, undefined]);
      expect(Object.keys(headers)).not.toContain('authorization');
      expect(Object.keys(headers)).not.toContain('apikey');
      expect(at).toBe(i * 1_000);
    }
    expect(formsVerdict(all)).toBe('understood');
  });

  it.each([
    [401, 'accepted', 'understood'],
    [200, 'accepted', 'understood'],
    [400, 'refused', 'partly'],
    [404, 'no such path', 'understood'],
    [405, 'no such path', 'understood'],
    [410, 'no such path', 'understood'],
    [403, 'says nothing', 'understood'],
    [500, 'says nothing', 'understood'],
  ] as const)('concludes from status %i to a form of v2: %s', async (status, meaning, verdict) => {
    const { all } = await tried(() => answer(status));
    expect(all.find(({ request }) => request.endpoint === 'validators')?.meaning).toBe(meaning);
    expect(formsVerdict(all)).toBe(verdict);
    expect(formsReport(all)).toMatch(
      new RegExp(`^validators +${status} +${meaning} +POST /api/v2/ethereum/validators$`, 'm'),
    );
  });

  it('concludes nothing from answers of v1 or a proxy, and calls no answer a failure', async () => {
    const ofV1 = await tried(() => answer(401));
    expect(ofV1.all.find(({ request }) => request.endpoint === 'epoch_slots')?.meaning).toBe('says nothing');
    const between = await tried(() => answer(404, '<html>'));
    expect(new Set(between.all.map(({ meaning }) => meaning))).toEqual(new Set(['says nothing']));
    const none = await tried(() => new Error('no network'));
    expect(formsVerdict(none.all)).toBe('refused');
    expect(formsReport(none.all)).toMatch(/^validators +no network +no answer/m);
  });
});
