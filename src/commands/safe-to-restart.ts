import { emptyLedger } from '../budget/ledger.ts';
import { openClient } from '../exporter/client.ts';
import type { Chain } from '../facts/chain.ts';
import type { Inputs } from '../sources/read.ts';
import { type LoadedConfig, safetyQuestions } from '../sources/registry.ts';
import type { Safety } from '../sources/safety.ts';
import { UsageError } from '../toolkit/flags/flags.ts';
import { systemClock } from '../toolkit/lib/clock.ts';
import { parseDuration } from '../toolkit/lib/duration.ts';

/** Whether a restart now costs nothing, on all chains. @param inputsOf What the state has about public keys @throws UsageError */
export async function askSafeToRestart(
  settings: LoadedConfig,
  text: string,
  inputsOf: (chain: Chain) => Inputs,
): Promise<Safety> {
  const withinMs = parseDuration(text);
  if (withinMs === undefined)
    throw new UsageError(`--safe-to-restart: expected a duration such as 30m, got ${JSON.stringify(text)}`);
  const questions = safetyQuestions(settings.config, inputsOf);
  if (questions.length === 0) return { isSafe: false, reason: 'not known: validators.watch names no validator' };
  const client = openClient({
    settings: () => settings,
    proxies: settings.proxies,
    clock: systemClock,
    ledger: emptyLedger(),
  });
  await using opened = new AsyncDisposableStack();
  opened.defer(() => client.close());
  const { signal } = new AbortController();
  const found: Safety[] = [];
  for (const ask of questions) found.push(await ask(client.api, withinMs, systemClock.now(), signal));
  const bad = found.filter(({ isSafe }) => !isSafe);
  return { isSafe: bad.length === 0, reason: (bad.length > 0 ? bad : found).map(({ reason }) => reason).join('; ') };
}
