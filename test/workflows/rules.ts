import { parse } from 'yaml';

/** What actionlint and zizmor do not check, or what must be seen before CI runs. */

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly permissions?: unknown;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

/** The rights to write that jobs have, each with a reason in a comment beside it. All others only read. */
const WRITERS: Readonly<Record<string, readonly string[]>> = {
  'release.yml attest': ['id-token', 'attestations'],
  'release.yml image': ['packages', 'id-token', 'attestations'],
  'release.yml npm': ['id-token'],
  'release.yml github': ['contents'],
  'security.yml codeql': ['security-events'],
};

/** Events that run with the rights of the repository on what a stranger has written. */
const DANGEROUS = ['pull_request_target', 'workflow_run', 'issue_comment', 'issues', 'discussion'];

/** What runs code of packages. */
const INSTALLS = /\bnpm (ci|install|i|exec|x|run|test)\b|\bnpx\b|\.ci\/|try-package/;

export function complaintsAbout(name: string, text: string): string[] {
  const workflow: Workflow = parse(text);
  return [
    ...unpinned(text),
    ...DANGEROUS.filter((event) => event in workflow.on).map((event) => `runs on ${event}`),
    ...(isEmpty(workflow.permissions) ? [] : ['permissions are not {} at the top']),
    ...(/\$\{\{[^}]*\bsecrets\b/.test(text) ? ['uses a secret: github.token and identities are enough'] : []),
    ...Object.entries(workflow.jobs).flatMap(([job, content]) =>
      jobComplaints(content, WRITERS[`${name} ${job}`] ?? []).map((complaint) => `${job}: ${complaint}`),
    ),
  ];
}

/** A tag can be moved to other code, a commit cannot. The comment is for readers and for the bot that updates both. */
function unpinned(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const uses = /^\s*(?:- )?uses:\s*(.*)$/.exec(line)?.[1];
    if (uses === undefined || /^[\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(uses)) return [];
    return [`not pinned by commit with its version: ${uses}`];
  });
}

function jobComplaints(job: Job, writes: readonly string[]): string[] {
  const { steps = [] } = job;
  const given = typeof job.permissions === 'object' && job.permissions !== null ? Object.entries(job.permissions) : [];
  const written = given.filter(([, right]) => right !== 'read').map(([scope]) => scope);
  return [
    ...(given.length === 0 ? ['no permissions of its own'] : []),
    ...written.filter((scope) => !writes.includes(scope)).map((scope) => `may write ${scope}`),
    ...writes.filter((scope) => !written.includes(scope)).map((scope) => `the table lets it write ${scope}`),
    ...(written.some((scope) => scope !== 'security-events') && steps.some(({ run = '' }) => INSTALLS.test(run))
      ? ['runs code of packages with a right to write']
      : []),
    ...steps.flatMap((step) => stepComplaints(step)),
  ];
}

function stepComplaints({ uses = '', run = '', with: inputs = {} }: Step): string[] {
  return [
    // The text is put into the script before the shell sees it. In `env` it stays a value.
    ...(run.includes('${{') ? ['an expression in a script'] : []),
    // Otherwise every later step finds the token in .git/config.
    ...(uses.startsWith('actions/checkout@') && inputs['persist-credentials'] !== false
      ? ['the checkout keeps its token']
      : []),
  ];
}

function isEmpty(permissions: unknown): boolean {
  return typeof permissions === 'object' && permissions !== null && Object.keys(permissions).length === 0;
}
