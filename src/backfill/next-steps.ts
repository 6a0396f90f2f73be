import { basename } from 'node:path';

export interface WrittenFiles {
  readonly files: readonly string[];
  /** Whether the labels include `job` and `instance`, so that the series continue those that Prometheus scrapes. */
  readonly hasTargetLabels: boolean;
}

/**
 * With blocks as long as the longest that Prometheus makes. By default promtool makes one for every two hours, and reads
 * the whole file for each.
 */
const CREATE = 'promtool tsdb create-blocks-from openmetrics --max-block-duration=744h';

/** What the user should do with the files. */
export function nextSteps({ files, hasTargetLabels }: WrittenFiles): string {
  return [
    'Next, make blocks of it in the data directory of your Prometheus (--storage.tsdb.path; it sees them within a minute):',
    '',
    ...files.map((file) => `  ${CREATE} ${quote(file)} /var/lib/prometheus`),
    '',
    'or, where Prometheus runs in Docker Compose as the service "prometheus", whose volume is /prometheus:',
    '',
    ...files.flatMap((file) => {
      const inside = quote(`/prometheus/${basename(file)}`);
      return [
        `  docker compose cp ${quote(file)} prometheus:${inside}`,
        `  docker compose exec prometheus ${CREATE} ${inside} /prometheus`,
        `  docker compose exec prometheus rm ${inside}`,
      ];
    }),
    '',
    'Prometheus drops what is older than --storage.tsdb.retention.time (15 days unless set): raise it first.',
    ...(hasTargetLabels
      ? []
      : [
          'Without --label job=... --label instance=... these are series of their own: they do not join what Prometheus scrapes.',
        ]),
    '',
  ].join('\n');
}

/** For a POSIX shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
