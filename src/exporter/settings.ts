import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';

/** What the operator may change while the program runs. */
export interface Settings {
  readonly config: Config;
  readonly key: string;
}

/** Whether the settings differ. */
export function isChange(before: Settings, after: Settings): boolean {
  return before.key !== after.key || !isDeepStrictEqual(before.config, after.config);
}

/** @throws Error if a setting has changed that takes effect only at a start. */
export function assertNoRestartNeeded({ config: now }: Settings, { config: next }: Settings): void {
  const fixed = {
    'web.listen_address': [now.web.listenAddress, next.web.listenAddress],
    'web.telemetry_path': [now.web.telemetryPath, next.web.telemetryPath],
    'web.config_file': [now.web.configFile, next.web.configFile],
    state: [now.state, next.state],
    'log.format': [now.log.format, next.log.format],
  };
  for (const [setting, [before, after]] of Object.entries(fixed)) {
    if (!isDeepStrictEqual(before, after)) throw new Error(`${setting} has changed: this requires a restart`);
  }
}
