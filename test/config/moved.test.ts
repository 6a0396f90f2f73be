// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a config names a variable.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeMistake } from '../../src/config/mistakes.ts';
import { MOVED_KEYS, type MovedKey } from '../../src/config/moved.ts';
import { valueAt } from '../../src/config/value-at.ts';
import { refusal, withConfig } from './with-config.ts';

const SHAPE = JSON.parse(readFileSync('config.schema.json', 'utf8'));

const WORKS: MovedKey = { from: ['silence'], to: ['machines', 'stale_after'], since: '0.3.0', works: true };
const GONE: MovedKey = { ...WORKS, works: false };

function load(text: string, ...movedKeys: MovedKey[]) {
  return withConfig(text, { movedKeys });
}

async function told(text: string, ...movedKeys: MovedKey[]): Promise<string[]> {
  const { warnings } = await load(text, ...movedKeys);
  return warnings.map(describeMistake).map((line) => line.replace(/^\/.*\/config\.yaml/, 'config.yaml'));
}

describe('config/moved', () => {
  it('a key under its old name works, with a warning that has the new one', async () => {
    const { config } = await load('silence: 20m\nmachines: {max: 7}\n', WORKS);
    expect(config.machines).toMatchObject({ staleAfterMs: 1_200_000, max: 7 });
    expect(await told('silence: 20m\n', WORKS)).toEqual([
      'config.yaml:1: silence: is called machines.stale_after since 0.3.0: rename it, because a later version refuses the old name',
    ]);
  });

  it('a key moves out of a section that keeps others, and a whole section moves', async () => {
    const text = 'log: {level: warn, silence: 20m}\nrules: [{match: "a*", chain: mainnet}]\n';
    const rules: MovedKey = { ...WORKS, from: ['rules'], to: ['machines', 'chain_rules'] };
    const { config } = await load(text, { ...WORKS, from: ['log', 'silence'] }, rules);
    expect(config.machines).toMatchObject({ staleAfterMs: 1_200_000, chainRules: [{ match: 'a*' }] });
    expect(config.log.level).toBe('warn');
  });

  it('a mistake in its value is told at the old name and its line', async () => {
    expect(await refusal(load('machines: {max: 7}\n\nsilence: 20 minutes\n', WORKS))).toEqual([
      'config.yaml:3: silence: expected auto or a duration such as 30s, 5m, 1h, 31d, got "20 minutes"',
    ]);
  });

  it('a doubt about its value is told at the new name', async () => {
    const lines = await told('silence: 30s\n', WORKS);
    expect(lines).toContainEqual(expect.stringMatching(/machines\.stale_after: 30s is less than machines\.interval/));
    expect(lines).toHaveLength(2);
  });

  it('both names are a mistake', async () => {
    const text = 'silence: 20m\nmachines: {stale_after: 30m}\n';
    expect(await refusal(load(text, WORKS))).toEqual([
      'config.yaml:1: silence: is called machines.stale_after since 0.3.0, which is set too: remove this one',
    ]);
  });

  it('two old names of one key are a mistake', async () => {
    const quiet: MovedKey = { ...WORKS, from: ['quiet'], since: '0.4.0' };
    expect(await refusal(load('silence: 20m\nquiet: 30m\n', WORKS, quiet))).toEqual([
      'config.yaml:2: quiet: is called machines.stale_after since 0.4.0, which is set too: remove this one',
    ]);
  });

  it('a section that exists no longer may have held only what moved', async () => {
    const from = ['fleet', 'silence'];
    const { config } = await load('fleet: {silence: 20m}\n', { ...WORKS, from });
    expect(config.machines.staleAfterMs).toBe(1_200_000);
    expect(await refusal(load('fleet: {silence: 20m}\n', { ...GONE, from }))).toEqual([
      'config.yaml:1: fleet.silence: is called machines.stale_after since 0.3.0',
    ]);
    expect(await refusal(load('fleet: {silence: 20m, more: 1}\n', { ...WORKS, from }))).toEqual([
      expect.stringContaining('config.yaml:1: fleet: unknown key'),
    ]);
  });

  it('a name that no longer works is told with the new one, beside the other mistakes', async () => {
    expect(await refusal(load('silence: 20m\nmachines: {max: 0}\n', GONE))).toEqual([
      'config.yaml:1: silence: is called machines.stale_after since 0.3.0',
      'config.yaml:2: machines.max: expected a whole number of at least 1, got 0',
    ]);
  });

  it('a variable of the environment under the old name is shown no more than under the new one', async () => {
    const text = 'silence: ${SECRET_OF_MINE}\n';
    const lines = await refusal(withConfig(text, { env: { SECRET_OF_MINE: 'hidden' }, movedKeys: [WORKS] }));
    expect(lines.join('\n')).not.toContain('hidden');
  });

  it('without an old name nothing changes, and the table has only new names that exist', async () => {
    expect(await told('machines: {stale_after: 20m}\n', WORKS)).toEqual([]);
    for (const { to } of [WORKS, ...MOVED_KEYS])
      expect(
        valueAt(
          SHAPE,
          to.flatMap((name) => ['properties', name]),
        ),
        to.join('.'),
      ).toBeDefined();
  });
});
