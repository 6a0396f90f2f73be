/** The part of this process that uses the shared state: it polls and writes, or follows and reads. */
export interface Subscriber {
  /** Documents that it is given whenever they change; none while it writes them itself. */
  readonly wanted: readonly string[];
  apply(values: ReadonlyMap<string, unknown>): void;
  /** Writes everything again: Redis may lack it, because writes failed or were lost in a failover. */
  rewrite(): void;
  /** Stops polling: the lease is no longer ours. Called before anything else is done about it. */
  onLapse(): void;
}
