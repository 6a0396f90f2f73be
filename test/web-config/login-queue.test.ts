import { describe, expect, it } from 'vitest';
import { addressOf } from '../../src/web-config/client-address.ts';
import { LoginQueue, MAX_WAITING, MAX_WAITING_PER_USER, type Origin } from '../../src/web-config/login-queue.ts';

const HOME: Origin = { address: '192.0.2.1', user: 'prometheus', hasFailed: false };
const ELSEWHERE: Origin = { address: '198.51.100.9', user: 'prometheus', hasFailed: false };

function queueOf(...logins: readonly (readonly [Origin, string])[]) {
  const queue = new LoginQueue<string>();
  const dropped = logins.flatMap(([origin, job]) => queue.push(origin, job) ?? []);
  return { queue, dropped };
}

function drain(queue: LoginQueue<string>): string[] {
  const all: string[] = [];
  for (let job = queue.shift(); job !== undefined; job = queue.shift()) all.push(job);
  expect(queue.size).toBe(0);
  return all;
}

describe('web-config/login-queue', () => {
  it('is empty at first, and again when all were taken', () => {
    const { queue } = queueOf([HOME, 'a']);
    expect(drain(queue)).toEqual(['a']);
    expect(queue.shift()).toBeUndefined();
  });

  it('lets addresses take turns: one that floods delays another by one login', () => {
    const { queue } = queueOf([ELSEWHERE, 'x1'], [ELSEWHERE, 'x2'], [ELSEWHERE, 'x3'], [HOME, 'right']);
    expect(drain(queue)).toEqual(['x3', 'right', 'x2', 'x1']);
  });

  it('lets the users of an address take turns, made-up names being one of them', () => {
    const nobody = { ...HOME, user: '' };
    const { queue } = queueOf([nobody, 'x1'], [nobody, 'x2'], [nobody, 'x3'], [HOME, 'right']);
    expect(drain(queue)).toEqual(['x3', 'right', 'x2', 'x1']);
  });

  it('puts a connection over which a login failed behind those over which none has', () => {
    const failed = { ...HOME, hasFailed: true };
    const { queue } = queueOf([failed, 'x1'], [failed, 'x2'], [HOME, 'first'], [HOME, 'second'], [failed, 'x3']);
    expect(drain(queue)).toEqual(['second', 'first', 'x3', 'x2', 'x1']);
  });

  it('drops the oldest of a user with too many, one over a connection that has failed first', () => {
    const failed = { ...HOME, hasFailed: true };
    const many = Array.from({ length: MAX_WAITING_PER_USER }, (_, i) => [failed, `x${i}`] as const);
    const { queue, dropped } = queueOf([HOME, 'right'], ...many, [failed, 'one more']);
    expect(dropped).toEqual(['x0', 'x1']);
    expect(queue.shift()).toBe('right');
  });

  it('drops from the address with the most when too many wait, never the only one of another', () => {
    const flood = Array.from(
      { length: 3 * MAX_WAITING },
      (_, i) => [{ ...ELSEWHERE, user: `user ${i % 9}` }, `x${i}`] as const,
    );
    const { queue, dropped } = queueOf(...flood, [HOME, 'right'], ...flood);
    expect(queue.size).toBe(MAX_WAITING);
    expect(dropped).not.toContain('right');
    expect([queue.shift(), queue.shift()]).toContain('right');
  });

  it('keeps every login once, served or dropped, whatever comes', () => {
    const queue = new LoginQueue<string>();
    const out: string[] = [];
    for (let i = 0; i < 2_000; i += 1) {
      const address = `192.0.2.${i % 7}`;
      const dropped = queue.push({ address, user: `${i % 3}`, hasFailed: i % 5 === 0 }, `${i}`);
      if (dropped !== undefined) out.push(dropped);
      if (i % 4 === 0) out.push(queue.shift() ?? 'none');
    }
    out.push(...drain(queue));
    expect(out.map(Number).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 2_000 }, (_, i) => i));
  });

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2:ffff::1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    [undefined, ''],
  ])('takes %s for %s', (remote, address) => {
    expect(addressOf(remote)).toBe(address);
  });
});
