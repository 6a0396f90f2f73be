import type { Exposure } from '../config/exposure.ts';
import { describeMistake, type Mistake } from '../config/mistakes.ts';
import type { Logger } from '../lib/log.ts';

const MESSAGES: Readonly<Record<Exposure['kind'], string>> = {
  file: 'other users can read the file that contains the API key',
  http: 'the API key is sent without encryption',
};

const HELP: Readonly<Record<Exposure['kind'], string>> = {
  file: 'chmod o-rwx, or defaultMode: 0440 for a Kubernetes volume',
  http: 'use https, or a proxy on this machine',
};

/** Warns of each exposure and doubt once: after a reload only of new ones. */
export function warningLog(log: Logger): (exposures: readonly Exposure[], doubts: readonly Mistake[]) => void {
  let warned = new Set<string>();
  return (exposures, doubts) => {
    const isNew = (warning: Exposure | Mistake): boolean => !warned.has(JSON.stringify(warning));
    for (const { kind, ...fields } of exposures.filter(isNew))
      log.warn({ ...fields, help: HELP[kind] }, MESSAGES[kind]);
    for (const { place, line, path, message } of doubts.filter(isNew)) {
      log.warn({ file: place, line, setting: path, problem: message }, 'a setting does not work as intended');
    }
    warned = new Set([...exposures, ...doubts].map((warning) => JSON.stringify(warning)));
  };
}

/** A doubt in the output of `check`. */
export function doubtText(doubt: Mistake): string {
  return `Warning: ${describeMistake(doubt)}`;
}

/** The same warning in the output of `check`. */
export function exposureText(exposure: Exposure): string {
  const { kind } = exposure;
  const where =
    kind === 'file' ? `${exposure.file} has mode ${exposure.mode}` : `to ${exposure.host} (${exposure.setting})`;
  return `Warning: ${MESSAGES[kind]}: ${where}. Recommended: ${HELP[kind]}.`;
}
