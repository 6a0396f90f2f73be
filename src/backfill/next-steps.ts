import { basename } from 'node:path';

export interface Outcome {
  readonly files: readonly string[];
  /** Whether `job` and `instance` are among the labels. */
  readonly joins: boolean;
}

/** As long as the longest of Prometheus' own: promtool reads the whole file for each block, and by default makes one of every two hours. */
const CREATE = 'promtool tsdb create-blocks-from openmetrics --max-block-duration=744h';

/** What the user does with the files. */
export function nextSteps({ files, joins }: Outcome): string {
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
    ...(joins
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
