import { describe, expect, it, onTestFinished } from 'vitest';
import type { Fault } from '../support/fault-server.ts';
import { FaultWorld } from '../support/fault-world.ts';
import { refusal, tooMany } from '../support/faults.ts';
import { HOUR, MINUTE } from '../support/timing.ts';

const REFUSED = {
  level: 'error',
  msg: 'the API key is refused',
  since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  help: expect.stringMatching(/beaconcha\.in.* api\.key or api\.key_file .*BEACONCHAIN_API_KEY .*every 10 minutes/),
};
const REVOKED = {
  ...REFUSED,
  msg: 'access is revoked',
  help: expect.stringMatching(/renew it .*no requests are sent/),
};
const ACCEPTED = { level: 'info', msg: 'the service accepts the API key again' };
const NO_ACCESS = tooMany({ 'x-ratelimit-limit-second': '0', 'x-ratelimit-limit-month': '0' });

/** The exporter with a service that has this fault from the start. */
async function worldWith(fault: Fault | undefined): Promise<FaultWorld> {
  const world = await FaultWorld.start({}, ({ service }) => service.suffer(fault));
  onTestFinished(() => world.stop());
  return world;
}

/** What an operator reads at the default level, without what happened on the chain. */
function told({ lines }: FaultWorld, from = 0): Record<string, unknown>[] {
  return lines.slice(from).filter(({ level, msg }) => level !== 'debug' && msg !== 'attester slashing');
}

describe('exporter/event-log: what the log says of a key', () => {
  it('that is refused from the start: one error that says what to do, however often it is retried', async () => {
    const world = await worldWith(refusal(401));
    await world.pass(HOUR);
    expect(world.service.requests.length).toBeGreaterThan(5);
    expect(told(world)).toEqual([REFUSED]);
  });

  it('that is refused later, accepted, and refused again: each of it once', async () => {
    const world = await worldWith(undefined);
    await world.pass(5 * MINUTE);
    const before = world.lines.length;
    world.service.suffer(refusal(401));
    await world.pass(25 * MINUTE);
    expect(told(world, before)).toEqual([REFUSED]);
    world.service.suffer(undefined);
    await world.pass(15 * MINUTE);
    expect(told(world, before)).toEqual([REFUSED, ACCEPTED]);
    world.service.suffer(refusal(401));
    await world.pass(25 * MINUTE);
    expect(told(world, before)).toEqual([REFUSED, ACCEPTED, REFUSED]);
  });

  it('whose access is revoked: one error, also hours later', async () => {
    const world = await worldWith(NO_ACCESS);
    await world.pass(3 * HOUR);
    expect(told(world)).toEqual([REVOKED]);
  });
});

describe('exporter/event-log: what the log says of a plan without an endpoint', () => {
  it('once what is known of the plan that it needs, not at each poll of the next hours', async () => {
    const world = await worldWith({
      request: ({ path }) => (/sync-committee|store/.test(path) ? { status: 403, body: '{}' } : undefined),
    });
    await world.pass(3 * HOUR);
    const failed = told(world).filter(({ msg }) => msg === 'poll failed');
    const help = (known: RegExp) => expect.stringMatching(new RegExp(`plan of the account may not .*${known.source}`));
    expect(failed).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ source: 'sync_committee', help: help(/does not publish which plans/) }),
        expect.objectContaining({ source: 'daily_returns', help: help(/Scale or Enterprise/) }),
      ]),
    );
    expect(failed).toHaveLength(2);
  });
});
