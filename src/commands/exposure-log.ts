import type { Exposure } from '../config/exposure.ts';
import type { Logger } from '../lib/log.ts';

const MESSAGES: Readonly<Record<Exposure['kind'], string>> = {
  file: 'other users can read the file that holds the API key',
  http: 'the API key is sent without encryption',
  proxy: 'the API key is sent to a proxy that can read it',
};

const HELP: Readonly<Record<Exposure['kind'], string>> = {
  file: 'chmod o-rwx, or defaultMode: 0440 for a volume of Kubernetes',
  http: 'use https, or a proxy on this machine',
  proxy: 'name the host in NO_PROXY, or use https',
};

/** Warns of each exposure once: after a reload only of new ones. */
export function exposureLog(log: Logger): (exposures: readonly Exposure[]) => void {
  let warned = new Set<string>();
  return (exposures) => {
    for (const exposure of exposures) {
      const { kind, ...fields } = exposure;
      if (!warned.has(JSON.stringify(exposure))) log.warn({ ...fields, help: HELP[kind] }, MESSAGES[kind]);
    }
    warned = new Set(exposures.map((exposure) => JSON.stringify(exposure)));
  };
}

/** The same warning in the output of `check`. */
export function exposureText(exposure: Exposure): string {
  const { kind } = exposure;
  const where =
    kind === 'file' ? `${exposure.file} has mode ${exposure.mode}` : `to ${exposure.host} (${exposure.setting})`;
  return `Warning: ${MESSAGES[kind]}: ${where}. Better: ${HELP[kind]}.`;
}
