import { describe, expect, it } from 'vitest';
import { type Chain, epochAt } from '../../../src/facts/chain.ts';
import { rangesOf } from '../../../src/facts/watch.ts';
import { publicKeyOf } from '../../../src/sandbox/validator.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { emptyEntry } from '../../../src/scheduler/entry.ts';
import { inputsFor } from '../../../src/scheduler/schedules.ts';
import { link } from '../../../src/sources/content.ts';
import { NO_INPUTS } from '../../../src/sources/read.ts';
import { ConfigFile, safetyQuestions, sourcesOf } from '../../../src/sources/registry.ts';
import type { Source } from '../../../src/sources/source.ts';
import { type FakeApi, failing } from '../../support/answers/fake-api.ts';
import {
  CURRENT,
  committeeOf,
  EPOCH,
  identifiersOf,
  NINE,
  NOW,
  serviceOf,
  validatorRow,
  validatorsAnswer,
  validatorsTiming,
} from '../../support/answers/validators.ts';
import { samplesOf } from '../../support/exposition/samples.ts';
import { round } from '../../support/runs/round.ts';

const { chains } = new Sandbox();

function keyOf(index: number): string {
  return publicKeyOf(chains.mainnet, index);
}

/** A key that no chain knows. */
const NOBODY = `0x${'ab'.repeat(48)}`;

type Value = Record<string, unknown> & { validators: { index?: number; key?: string; status: string }[] };

function sourceIn(config: object, name: string, chain: Chain = 'mainnet'): Source {
  const found = sourcesOf(ConfigFile.parse(config)).find((one) => one.name === name && one.chain === chain);
  if (!found) throw new TypeError(name);
  return found;
}

function watching(watch: unknown, more: object = {}): Source {
  return sourceIn({ validators: { watch, sync_committee: false }, ...more }, 'validators');
}

/** A service that knows only these validators. */
function serviceWith(known: readonly number[], overrides: Record<number, object> = {}, epoch = 444_377): FakeApi {
  return serviceOf(
    {
      validators: (request) => {
        const asked = identifiersOf(request) as unknown[];
        const found = known.filter((index) => asked.includes(index) || asked.includes(keyOf(index)));
        if (found.length === 0) throw failing('not_found')(request);
        return validatorsAnswer(
          epoch,
          found.map((index) => ({ ...validatorRow(index), ...overrides[index] })),
        );
      },
    },
    epoch,
  );
}

const WITHOUT_INDEX = {
  validator: { index: null, public_key: keyOf(7).toUpperCase().replace('0X', '0x') },
  online: null,
};

function askedFor(api: FakeApi, endpoint = 'validators'): unknown[][] {
  return api.requests.filter((one) => one.endpoint === endpoint).map((one) => identifiersOf(one));
}

function shown(source: Source, value: unknown, now = NOW, inputs = NO_INPUTS) {
  const families = source.metrics(value, validatorsTiming(now), inputs);
  const of = (name: string) =>
    Object.fromEntries(
      samplesOf(families, `beaconchain_watched_${name}`)
        .filter(({ value }) => value > 0)
        .map(({ labels: { chain: _, ...labels }, value }) => [Object.values(labels).sort().join(' '), value]),
    );
  const { notices = [], tally } =
    source.page?.(value, validatorsTiming(now), { inputs, linked: link, polls: { intervalMs: EPOCH } }) ?? {};
  return { of, tally, notices: notices.map(({ text }) => text) };
}

describe('public keys of validators', () => {
  it('cost no request: the status requests the key until the index is known, then the index', async () => {
    const indices = Array.from({ length: 1_000 }, (_, i) => i + 1);
    const source = watching(indices.map(keyOf));
    const api = serviceWith(indices);
    const first = await round(source, api, undefined, { now: NOW });
    expect(askedFor(api)).toHaveLength(100);
    expect(askedFor(api).flat()).toEqual(indices.map(keyOf));
    // The sums follow in the same round.
    expect(askedFor(api, 'validators_performance').flat()).toEqual(indices);
    const { of, tally } = shown(source, first.value);
    expect(tally).toMatchObject({ well: 1_000, known: 1_000, unknown: 0 });
    expect([of('validators'), of('validators_by_status')]).toEqual([{ '': 1_000 }, { active_ongoing: 1_000 }]);
    const again = serviceWith(indices, {}, 444_378);
    await round(source, again, first.entry, { now: NOW + EPOCH });
    expect(askedFor(again).flat()).toEqual(indices);
    expect(askedFor(again)).toHaveLength(100);
  });

  it('without an index count as pending or not found, named by their first eight digits', async () => {
    const source = watching([5, keyOf(7), NOBODY]);
    const api = serviceWith([5, 7], { 7: { ...WITHOUT_INDEX, status: 'pending_initialized' } });
    const { value, entry } = await round(source, api, undefined, { now: NOW });
    const { of, notices } = shown(source, value);
    expect(of('validators_by_status')).toEqual({ active_ongoing: 1, pending_initialized: 1, not_found: 1 });
    expect(of('validators_balance_ether')).toEqual({});
    expect(notices).toEqual(['1 validator not found by the service on mainnet: 0xabababab.']);
    expect(askedFor(api, 'validators_performance')).toEqual([[5]]);
    // The validator gets its index.
    const later = serviceWith([5, 7], {}, 444_378);
    const { value: next } = await round(source, later, entry, { now: NOW + EPOCH });
    expect(askedFor(later)).toEqual([[5, keyOf(7), NOBODY]]);
    expect(askedFor(later, 'validators_performance')).toEqual([[5, 7]]);
    expect((next as Value).validators.map(({ index, key }) => [index, key])).toEqual([
      [5, undefined],
      [7, keyOf(7)],
      [undefined, NOBODY],
    ]);
  });

  it('of a deposit are never offline, and do not hide sums, whatever their status', async () => {
    const source = watching([5, keyOf(7)]);
    const api = serviceWith([5, 7], { 7: { ...WITHOUT_INDEX, status: 'deposit_inqueue', online: false } });
    const { value } = await round(source, api, undefined, { now: NOW });
    const { of } = shown(source, value);
    expect(of('validators_by_status')).toEqual({ active_ongoing: 1, unknown: 1 });
    expect(of('validators_offline')).toEqual({});
    expect(askedFor(api, 'validators_performance')).toEqual([[5]]);
    expect(askedFor(api, 'validators_rewards')).toEqual([[5]]);
  });

  it('of a deposit have no credentials of a validator', async () => {
    const source = watching([keyOf(7)]);
    let entry = emptyEntry(source);
    for (const [i, prefix] of ['0x00', '0x01', '0x01'].entries()) {
      const row = { ...WITHOUT_INDEX, withdrawal_credentials: { prefix, address: null } };
      const polled = await round(source, serviceWith([7], { 7: row }, 444_377 + i), entry, { now: NOW + i * EPOCH });
      expect(polled.events).toEqual([]);
      ({ entry } = polled);
    }
  });

  it('hide the sums of their group while nothing is known of one', async () => {
    const old = watching([5]);
    const { entry } = await round(old, serviceWith([5]), undefined, { now: NOW });
    expect(shown(old, entry.value).of('validators_duties')).not.toEqual({});
    const source = watching([5, keyOf(7)]);
    const broken = serviceOf({ validators: failing('server_error') });
    const { value } = await round(source, broken, entry, { now: NOW + NINE });
    expect(shown(source, value, NOW + NINE).of('validators_duties')).toEqual({});
    expect(askedFor(broken, 'validators_performance')).toEqual([]);
  });

  it('count once beside the index of the same validator', async () => {
    const source = watching(['5-6', keyOf(5)], { groups: { home: { validators: [keyOf(6)] } } });
    const { value } = await round(source, serviceWith([5, 6]), undefined, { now: NOW });
    const { of } = shown(source, value);
    expect(of('validators')).toEqual({ '': 1, home: 1 });
    expect(of('validators_by_status')).toEqual({ 'active_ongoing home': 1, active_ongoing: 1 });
  });

  it('are reported if two groups share a validator, and the first group keeps it', async () => {
    const groups = { office: { validators: [keyOf(5), 8] }, home: { validators: [5] } };
    const source = watching([keyOf(5)], { groups });
    const first = await round(source, serviceWith([5, 8]), undefined, { now: NOW });
    expect(first.events).toEqual([{ type: 'groups_share', validator: 5, groups: ['office', 'home'] }]);
    expect(source.events).toHaveProperty('groups_share');
    const next = await round(source, serviceWith([5, 8], {}, 444_378), first.entry, { now: NOW + EPOCH });
    expect(next.events).toEqual([]);
    const { of, notices } = shown(source, next.value);
    expect(of('validators_by_status')).toEqual({ 'active_ongoing office': 2 });
    expect(notices).toEqual(['Two groups share a validator: 5. The first group keeps it.']);
  });

  it('give their index to proposals, seats and slashings', async () => {
    const config = { validators: { watch: [keyOf(5)] } };
    const [validators, slashings] = [sourceIn(config, 'validators'), sourceIn(config, 'slashings')];
    const { entry } = await round(validators, serviceWith([5], { 5: { slashed: true } }), undefined, { now: NOW });
    const known = [
      { source: validators, saved: entry },
      { source: slashings, saved: emptyEntry(slashings) },
    ];
    const inputs = inputsFor(slashings, known);
    expect(inputs.slashedByStatus).toEqual([{ validator: 5 }]);
    const value = { ...(slashings.empty as object), slashed: [[5, 3_200]], missedProposals: [[5, 3_201]] };
    const before = shown(slashings, value);
    expect([before.of('validators'), before.of('validators_slashed')]).toEqual([{ '': 1 }, {}]);
    const { of } = shown(slashings, value, NOW, inputs);
    expect([of('validators'), of('validators_slashed')]).toEqual([{ '': 1 }, { '': 1 }]);
    expect(Object.keys(of('validator_missed_proposal_timestamp_seconds'))).toEqual(['5']);
  });
});

describe('check --safe-to-restart with public keys', () => {
  it('requests only indices that the state lacks and the service has not just denied', async () => {
    const config = ConfigFile.parse({ validators: { watch: [5, 6, 7, 8, 9].map(keyOf) } });
    const status = 'pending_queued' as const;
    const keys = [
      { key: keyOf(5), index: 5, status, epoch: 1 },
      ...[-5, -4, 0, 5].map((later, i) => ({ key: keyOf(6 + i), status, epoch: 444_377 + later })),
    ];
    const [ask] = safetyQuestions(config, () => ({ ...NO_INPUTS, keys }));
    const members = { status: 'OK', data: { period: CURRENT, validators: committeeOf({ 3: 5, 4: 6 }) } };
    const service = serviceOf({ sync_committee_members: () => members });
    service.at = NOW;
    const { isSafe, reason } = (await ask?.(service, 0, NOW, new AbortController().signal)) ?? {};
    expect({ isSafe, reason }).toMatchObject({
      isSafe: false,
      reason: expect.stringContaining('2 watched validators (5, 6)'),
    });
    expect(askedFor(service)).toEqual([[keyOf(6), keyOf(9)]]);
  });
});

describe('public keys of no chain in particular', () => {
  const ON_HOODI = epochAt('hoodi', NOW);
  const config = {
    chains: { mainnet: {}, hoodi: {} },
    validators: { watch: [keyOf(5), keyOf(9), NOBODY], sync_committee: false },
  };
  const mainnet = sourceIn(config, 'validators');
  const hoodi = sourceIn(config, 'validators', 'hoodi');

  /** Rounds of both chains, one after the other; what each shows at the end. */
  async function lived(onMainnet: FakeApi, onHoodi: FakeApi | undefined, rounds = 1) {
    let known = [mainnet, hoodi].map((source) => ({ source, saved: emptyEntry(source) }));
    for (let i = 0; i < rounds; i += 1) {
      for (const [at, api] of [onMainnet, onHoodi].entries()) {
        const one = known[at];
        if (!one || !api) continue;
        api.requests.length = 0;
        const inputs = inputsFor(one.source, known);
        const { entry } = await round(one.source, api, one.saved, { now: NOW + i * EPOCH, inputs });
        known = known.map((other) => (other === one ? { ...one, saved: entry } : other));
      }
    }
    return known.map(({ source, saved }) => {
      const { of } = shown(source, saved.value, NOW, inputsFor(source, known));
      const attested = of('validators_duties')['assigned attestation'];
      return { watched: of('validators'), statuses: of('validators_by_status'), ...(attested && { attested }) };
    });
  }

  it('are requested on each chain, and not found if no chain knows them', async () => {
    const [onMainnet, onHoodi] = [serviceWith([5, 9]), serviceWith([], {}, ON_HOODI)];
    expect(await lived(onMainnet, undefined)).toEqual([
      { watched: { '': 3 }, statuses: { active_ongoing: 2, unread: 1 }, attested: 450 },
      { watched: { '': 1 }, statuses: {} },
    ]);
    expect(await lived(onMainnet, onHoodi)).toEqual([
      { watched: { '': 3 }, statuses: { active_ongoing: 2, not_found: 1 }, attested: 450 },
      { watched: { '': 1 }, statuses: { not_found: 1 } },
    ]);
    expect(askedFor(onHoodi)).toEqual([[NOBODY]]);
  });

  it('are requested only on the chain that knows them', async () => {
    const [onMainnet, onHoodi] = [serviceWith([9]), serviceWith([5], {}, ON_HOODI)];
    expect(await lived(onMainnet, onHoodi, 3)).toEqual([
      { watched: { '': 2 }, statuses: { active_ongoing: 1, not_found: 1 }, attested: 225 },
      { watched: { '': 2 }, statuses: { active_ongoing: 1, not_found: 1 } },
    ]);
    expect([askedFor(onMainnet), askedFor(onHoodi)]).toEqual([[[9, NOBODY]], [[5, NOBODY]]]);
    // A key of the other chain does not make the sums of a day due.
    expect(askedFor(onMainnet, 'validators_performance')).toEqual([]);
  });

  it('belong to the chain that lists them', () => {
    const watch = { mainnet: [keyOf(5)], hoodi: [7] };
    const groups = { home: { validators: [keyOf(5), NOBODY] } };
    const { validators } = ConfigFile.parse({ ...config, groups, validators: { watch } });
    expect(validators.keys).toEqual({ mainnet: [keyOf(5), NOBODY], hoodi: [NOBODY] });
    expect(validators.anywhere).toEqual([NOBODY]);
    expect(rangesOf(validators.watch.hoodi)).toBe('7-7');
  });
});
