import { expect, it } from 'vitest';
import { epochEnd, MS_PER_EPOCH } from '../../../src/facts/chain.ts';
import { watchOf } from '../../../src/facts/watch.ts';
import { contentOf } from '../../../src/sandbox/answer.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { emptyEntry } from '../../../src/scheduler/entry.ts';
import { validatorsSource } from '../../../src/sources/validators/index.ts';
import { apiOf } from '../../property/odd.ts';
import { validatorsOptions } from '../../support/answers/validators.ts';
import { round } from '../../support/runs/round.ts';

it('keeps a readable state when the service reports the largest count in every epoch', async () => {
  const sandbox = new Sandbox({ plan: { perSecond: 1e6 }, slotsPerSlashing: Number.POSITIVE_INFINITY });
  const options = { status: false, rewards: false, syncCommittee: false, epochs: true };
  const source = validatorsSource(validatorsOptions({ watch: watchOf([{ first: 1, last: 1 }]), ...options }));
  let entry = emptyEntry(source);
  for (let finalized = 444_375; finalized < 444_387; finalized += 1) {
    const now = epochEnd('mainnet', finalized) + 2 * MS_PER_EPOCH;
    const api = apiOf(({ method, path, headers, body = '' }) => {
      const good = contentOf(sandbox, { method, path, headers, body }, 'mainnet', now);
      return { ...good, body: good.body.replace(/"missed":\d+/, '"missed":1000000000000000') };
    }, now);
    // The round saves and restores the entry.
    ({ entry } = await round(source, api, entry, {
      now,
      inputs: { finality: { at: epochEnd('mainnet', finalized), readAt: now } },
    }));
  }
  expect(entry.value.epoch_duties?.validators[0]?.[3]).toBe(Number.MAX_SAFE_INTEGER);
});
