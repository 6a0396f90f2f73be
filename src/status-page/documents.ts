export interface DocumentEntry {
  /** The file in docs/ without `.md`, and the last part of its address. */
  readonly name: string;
  /** Its first heading. */
  readonly title: string;
  /** What a reader finds in it. */
  readonly about: string;
}

/** The user documentation, in the order in which a person needs it. Documents for developers are in docs/internals and not served. */
export const DOCUMENTS: readonly DocumentEntry[] = [
  {
    name: 'first-hour',
    title: 'First hour',
    about: 'key, clients that push, Prometheus, Alertmanager, the first page',
  },
  { name: 'installation', title: 'Installation', about: 'Compose, a container, systemd; how to verify a release' },
  { name: 'configuration', title: 'Configuration', about: 'recipes, then every setting and flag' },
  { name: 'alerts', title: 'Alerts', about: 'the rules, and the runbook: what each alert means and what to do' },
  { name: 'dashboards', title: 'Dashboards and status page', about: 'what Grafana and the page of the exporter show' },
  { name: 'validators', title: 'Your validators', about: 'online, duties, slashings, proposals, sync committees' },
  { name: 'budget', title: 'Plans and budget', about: 'what a plan is enough for, and how its requests are divided' },
  { name: 'troubleshooting', title: 'Problems and questions', about: 'symptoms and what to do, common questions' },
  { name: 'backfill', title: 'Backfill', about: 'history for a Prometheus that starts today' },
  { name: 'operations', title: 'Operations', about: 'reload, TLS and passwords, proxies, state, upgrades, logs' },
  { name: 'high-availability', title: 'High availability', about: 'replicas that share one account' },
  { name: 'metrics', title: 'Metrics', about: 'every metric with its labels and meaning' },
  { name: 'queries', title: 'Queries', about: 'PromQL for your own graphs and alerts' },
  { name: 'glossary', title: 'Glossary', about: 'the terms used in these pages' },
];

/** The pictures in these documents, files of docs/images. */
export const PICTURES: readonly string[] = ['exporter.png', 'fleet.png', 'returns.png'];
