/** What runs on the state in this process. */
export interface Member {
  /** Documents that are wanted whenever they change; none while it writes them itself. */
  readonly wanted: readonly string[];
  apply(values: ReadonlyMap<string, unknown>): void;
  /** The server may lack what is known: writes failed, or were lost in a failover. */
  onDoubt(): void;
  /** The lease is no longer ours; told before anything else is done. */
  onLapse(): void;
}
