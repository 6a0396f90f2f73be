import type { Format } from '../metrics/encode.ts';
import type { StatusForm } from '../web/rendered-page.ts';
import { expositionOf, pageOf } from './display.ts';
import { openFollower } from './follower.ts';
import { isReady } from './health.ts';
import { NotedWrites } from './noted-writes.ts';
import { OWN } from './parts.ts';
import { viewsOf } from './picture.ts';
import { openPoller } from './poller.ts';
import type { EngineOptions, Role } from './role.ts';
import type { State } from './state.ts';

/** Everything that depends on the configuration, apart from the server: polls or follows, and renders. */
export interface Engine extends Pick<Role, 'unhealthy' | 'adopt'> {
  metrics(format: Format, gzipped: boolean): readonly Buffer[];
  ready(): boolean;
  status(form: StatusForm, gzipped: boolean): Promise<Buffer>;
  /** The exporter's own metrics have changed; resolves when they are shown. */
  touch(): Promise<void>;
  /** Aborts the polls in progress, writes the state and returns it. */
  stop(): Promise<State>;
}

/**
 * Polls, or follows the replica that does. Resolves when /metrics is complete, with what was known before.
 * @throws StateRefused
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { clock, replica } = options;
  const abort = new AbortController();
  const links = { abort, touch: (...parts: readonly string[]): void => exposition.touch(...parts) };
  const isFollowing = replica && !replica.leads();
  const documents = new NotedWrites(options.documents, clock);
  const role: Role = isFollowing
    ? openFollower(options, replica, links)
    : await openPoller({ ...options, documents }, links);
  const exposition = expositionOf(options, role);
  const page = pageOf(options, role, () => documents.failedAt);
  await role.begin();
  await exposition.refresh();
  const loops = [role.run?.(), exposition.run(abort.signal)];
  return {
    metrics: (format, gzipped) => exposition.chunks(format, gzipped),
    unhealthy: () => role.unhealthy(),
    ready: () => isReady(viewsOf(role.state(), role.viewOptions, clock.now()), clock.now()),
    status: (form, gzipped) => page.bytes(form, gzipped),
    touch: () => {
      exposition.touch(OWN);
      return exposition.shown();
    },
    adopt: role.adopt?.bind(role),
    stop: async () => {
      abort.abort(new Error('stopping'));
      await Promise.all(loops);
      return role.close();
    },
  };
}
