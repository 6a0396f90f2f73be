import { describe, expect, it } from 'vitest';
import { validatorAt } from '../../src/sandbox/validator.ts';
import type { Validator } from '../../src/sandbox/validators-world.ts';
import { BAD_REQUEST, HOUR, NOW, order, pagesOf, post, read, refusalOf, sandboxOf } from './call.ts';

const VALIDATORS = '/api/v2/ethereum/validators';

function about(...validator_identifiers: readonly unknown[]) {
  return { chain: 'mainnet', validator: { validator_identifiers } };
}

/** Validator 5 with another life. */
function living(
  sandbox: ReturnType<typeof sandboxOf>,
  life: Partial<Validator['life']>,
  more: Partial<Validator> = {},
) {
  const drawn = validatorAt(sandbox.chains.mainnet, 5, 0) as Validator;
  sandbox.chains.mainnet.validators.push({ ...drawn, life: { ...drawn.life, ...life }, ...more });
}

/** The epoch of the status at `NOW`. */
const EPOCH = 408_356;
const GONE = { current: 0n, effective: 0n };

describe('sandbox/validators', () => {
  it.each<[string, boolean | null, Partial<Validator['life']>, Partial<Validator>?]>([
    ['pending_initialized', null, { eligibility: null, activation: null }, { index: null }],
    ['pending_queued', null, { eligibility: EPOCH - 9, activation: null }],
    ['pending_queued', null, { activation: EPOCH + 1 }],
    ['active_ongoing', true, { activation: EPOCH }],
    ['active_exiting', true, { exit: EPOCH + 1, withdrawable: EPOCH + 257 }],
    ['active_slashed', true, { exit: EPOCH + 1, withdrawable: EPOCH + 8_188 }, { slashedAt: EPOCH - 4 }],
    ['exited_unslashed', null, { exit: EPOCH, withdrawable: EPOCH + 256 }],
    ['exited_slashed', null, { exit: EPOCH, withdrawable: EPOCH + 8_187 }, { slashedAt: EPOCH - 5 }],
    ['withdrawal_possible', null, { exit: EPOCH - 256, withdrawable: EPOCH }],
    ['withdrawal_done', null, { exit: EPOCH - 256, withdrawable: EPOCH }, { balances: GONE }],
  ])('status %s and online %s follow from the life', (status, online, life, more) => {
    const sandbox = sandboxOf();
    const { publicKey } = validatorAt(sandbox.chains.mainnet, 5, 0) as Validator;
    living(sandbox, life, more);
    const { data, range } = read(sandbox, VALIDATORS, about(publicKey));
    expect(range.epoch).toEqual({ start: EPOCH, end: EPOCH });
    expect(data).toMatchObject([{ validator: { index: more?.index === null ? null : 5 }, status, online }]);
    expect(data[0].slashed).toBe(status.includes('slashed') && !status.includes('un'));
  });

  it('one that is slashed by order leaves five epochs later, and one that is offline is reported after two', () => {
    const sandbox = sandboxOf();
    order(sandbox, '/-/slash?validators=5');
    order(sandbox, '/-/offline?validator=6');
    const rows = (now: number) => read(sandbox, VALIDATORS, about(5, 6), now).data;
    expect(rows(NOW)).toMatchObject([{ status: 'active_ongoing', online: true }, { online: true }]);
    const [slashed, offline] = rows(NOW + HOUR / 2);
    const { exit, withdrawable } = slashed.life_cycle_epochs;
    expect([slashed.status, slashed.slashed, withdrawable - exit]).toEqual(['active_slashed', true, 8_187]);
    expect([offline.status, offline.online]).toEqual(['active_ongoing', false]);
    expect(rows(NOW + HOUR)[0]).toMatchObject({ status: 'exited_slashed', slashed: true, online: null });
    order(sandbox, '/-/online?validator=6', NOW + HOUR);
    expect(rows(NOW + HOUR + HOUR / 2)[1].online).toBe(true);
  });

  it('takes indices and public keys, also mixed, names each validator once, and leaves out who is unknown', () => {
    const sandbox = sandboxOf();
    const { data } = read(sandbox, VALIDATORS, about(7, 5));
    expect(data.map(({ validator }: { validator: { index: number } }) => validator.index)).toEqual([5, 7]);
    const [key, unknown] = [data[0].validator.public_key, `0x${'0'.repeat(88)}00000005`];
    expect(read(sandbox, VALIDATORS, about(7, key, unknown, 5, 2_000_000)).data).toEqual(data);
    expect(read(sandbox, VALIDATORS, about(key)).data).toEqual([data[0]]);
    const hoodi = read(sandbox, VALIDATORS, { ...about(5), chain: 'hoodi' }).data;
    expect(hoodi[0].validator.public_key).not.toBe(key);
    expect(post(sandbox, VALIDATORS, about(unknown)).status).toBe(404);
  });

  it.each([['5'], ['0X'.padEnd(98, 'a')], [`0x${'A'.repeat(96)}`], ['a'.repeat(96)], [-1], [null]])(
    'refuses %s as an identifier',
    (identifier) => expect(refusalOf(post(sandboxOf(), VALIDATORS, about(5, identifier)))).toEqual(BAD_REQUEST),
  );

  it('has pages of ten, and refuses more identifiers than the plan allows', () => {
    const sandbox = sandboxOf();
    const many = (count: number) => about(...Array.from({ length: count }, (_, i) => i));
    const pages = pagesOf((body, now) => read(sandbox, VALIDATORS, body, now), many(25));
    expect(pages.map(({ data }: { data: unknown[] }) => data.length)).toEqual([10, 10, 5]);
    expect(post(sandbox, VALIDATORS, many(101)).status).toBe(403);
    expect(post(sandboxOf({ plan: 'free_trial' }), VALIDATORS, many(21)).status).toBe(403);
  });
});
