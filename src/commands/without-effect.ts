import type { Config } from '../config/config.ts';

/** What a configuration asks for in vain, although it has no mistake. One line each. */
export function withoutEffect({ chains, slashings, syncCommittee }: Config): string[] {
  const watchesNobody = chains.every(({ name }) => slashings.watch[name].length === 0);
  if (!syncCommittee.enabled || !syncCommittee.members || !watchesNobody) return [];
  return ['Warning: sync_committee.members has no effect, because slashings.watch names no validator.'];
}
