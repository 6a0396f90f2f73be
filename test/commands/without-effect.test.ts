import { describe, expect, it } from 'vitest';
import { withoutEffect } from '../../src/commands/without-effect.ts';
import type { Config } from '../../src/config/config.ts';
import { BOTH_CHAINS, defaultConfig } from '../support/default-config.ts';

function config(
  syncCommittee: Partial<Config['syncCommittee']>,
  watch: Partial<Config['slashings']['watch']> = {},
): Config {
  const defaults = defaultConfig();
  return {
    ...defaults,
    ...BOTH_CHAINS,
    slashings: { ...defaults.slashings, watch: { mainnet: [], hoodi: [], ...watch } },
    syncCommittee: { ...defaults.syncCommittee, ...syncCommittee },
  };
}

describe('commands/without-effect', () => {
  it('warns of members where nobody is watched on any chain', () => {
    expect(withoutEffect(config({ members: true }))).toEqual([
      'Warning: sync_committee.members has no effect, because slashings.watch names no validator.',
    ]);
  });

  it('says nothing where somebody is watched on one chain, or where the members are not wanted', () => {
    expect(withoutEffect(config({ members: true }, { hoodi: [{ first: 1, last: 1 }] }))).toEqual([]);
    expect(withoutEffect(config({ members: false }))).toEqual([]);
    expect(withoutEffect(config({ members: true, enabled: false }))).toEqual([]);
    expect(withoutEffect(defaultConfig())).toEqual([]);
  });
});
