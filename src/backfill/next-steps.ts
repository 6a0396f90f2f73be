export interface WrittenFiles {
  readonly source: 'daily_returns' | 'machines';
  readonly files: readonly string[];
  /** Whether the labels include `job` and `instance`, so that the series continue those that Prometheus scrapes. */
  readonly hasTargetLabels: boolean;
}

/**
 * For promtool, which makes blocks of two hours by default and reads the whole file for each. Prometheus merges every
 * block with all blocks that it overlaps, regardless of the job, so longer blocks would result in one huge block of all
 * data (docs/backfill.md).
 */
const BLOCK_DURATION = { daily_returns: '744h', machines: '24h' } as const;

/** The next steps for the user. */
export function nextSteps({ source, files, hasTargetLabels }: WrittenFiles): string {
  const create = `promtool tsdb create-blocks-from openmetrics --max-block-duration=${BLOCK_DURATION[source]}`;
  return [
    'Next, create blocks in the data directory of Prometheus (--storage.tsdb.path), as the user that runs Prometheus:',
    '',
    ...files.map((file) => `  ${create} ${quote(file)} /var/lib/prometheus`),
    '',
    'Prometheus loads them within a minute. If it runs in a container, promtool is in its image, and docs/backfill.md has',
    'the commands for Compose and Kubernetes.',
    'Prometheus deletes blocks older than --storage.tsdb.retention.time (default 15 days): raise it first.',
    ...(hasTargetLabels
      ? []
      : ['Without --label job=... --label instance=..., these series do not join the series that Prometheus scrapes.']),
    '',
  ].join('\n');
}

/** For a POSIX shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
