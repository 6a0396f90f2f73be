import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';

/** What the operator may change while the program runs. */
export interface Settings {
  readonly config: Config;
  readonly key: string;
}

/** A setting that takes effect only at a start has changed. */
class NeedsRestart extends Error {
  override readonly name = 'NeedsRestart';

  constructor(setting: string) {
    super(`${setting} has changed, which takes a restart`);
  }
}

/** Whether the settings differ. */
export function isChange(before: Settings, after: Settings): boolean {
  return before.key !== after.key || !isDeepStrictEqual(before.config, after.config);
}

/** @throws NeedsRestart */
export function refuseWhatStays({ config: now }: Settings, { config: next }: Settings): void {
  const stays = {
    'web.listen_address': [now.web.listenAddress, next.web.listenAddress],
    'web.telemetry_path': [now.web.telemetryPath, next.web.telemetryPath],
    'web.config_file': [now.web.configFile, next.web.configFile],
    state: [now.state, next.state],
    'log.format': [now.log.format, next.log.format],
  };
  for (const [setting, [before, after]] of Object.entries(stays)) {
    if (!isDeepStrictEqual(before, after)) throw new NeedsRestart(setting);
  }
}
