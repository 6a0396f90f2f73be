import { CHAIN_NAMES, type Chain } from '../facts/chain.ts';
import { isObject } from '../toolkit/lib/is-object.ts';
import { either } from '../toolkit/yaml/fields.ts';
import { type Finding, show } from '../toolkit/yaml/mistakes.ts';
import { valueAt } from '../toolkit/yaml/value-at.ts';

/**
 * Finds references to chains that are not configured, and a list of validators that does not name its chain. Reads the
 * document before the schema does, so that these mistakes are reported together with all others.
 */
export function chainFindings(document: unknown): Finding[] {
  const chains = configuredChains(document);
  if (chains.length === 0) return [];
  const groups = valueAt(document, ['groups']);
  const lists = [
    ['validators', 'watch'],
    ...Object.keys(isObject(groups) ? groups : {}).map((name) => ['groups', name, 'validators']),
  ];
  return [...machineFindings(document, chains), ...lists.flatMap((path) => watchFindings(document, path, chains))];
}

function configuredChains(document: unknown): Chain[] {
  const chains = valueAt(document, ['chains']) ?? { mainnet: {} };
  return CHAIN_NAMES.filter((name) => valueAt(chains, [name]) !== undefined);
}

function machineFindings(document: unknown, chains: readonly Chain[]): Finding[] {
  const rules = valueAt(document, ['machines', 'chain_rules']);
  const count = Array.isArray(rules) ? rules.length : 0;
  const paths = [
    ['machines', 'chain'],
    ...Array.from({ length: count }, (_, i) => ['machines', 'chain_rules', i, 'chain']),
  ];
  return paths.flatMap((path) => unconfigured(path, valueAt(document, path), chains));
}

function watchFindings(document: unknown, path: readonly string[], chains: readonly Chain[]): Finding[] {
  const watch = valueAt(document, path);
  if (Array.isArray(watch)) {
    if (watch.length === 0 || chains.length === 1) return [];
    const example = `{${chains.map((chain) => `${chain}: [...]`).join(', ')}}`;
    return [{ path, message: `expected one list per chain: ${example}, because several chains are configured` }];
  }
  if (typeof watch !== 'object' || watch === null) return [];
  return Object.keys(watch).flatMap((chain) => unconfigured([...path, chain], chain, chains));
}

/** The schema reports names that are not chains. */
function unconfigured(path: readonly PropertyKey[], name: unknown, chains: readonly Chain[]): Finding[] {
  if (!CHAIN_NAMES.some((chain) => chain === name) || chains.some((chain) => chain === name)) return [];
  return [{ path, message: `expected a chain that is configured (${either(chains)}), got ${show(name)}` }];
}
