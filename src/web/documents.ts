export interface DocumentEntry {
  /** The file in docs/ without `.md`, and the last part of its address. */
  readonly name: string;
  /** Its first heading. */
  readonly title: string;
  /** What a reader finds in it. */
  readonly about: string;
}

/** The user documentation, in the order of the index. Documents for developers are in docs/internals and not served. */
export const DOCUMENTS: readonly DocumentEntry[] = [
  { name: 'installation', title: 'Installation', about: 'Compose, a container, systemd, Kubernetes' },
  { name: 'push', title: 'Clients that push', about: 'the flags of Lighthouse, Lodestar, Teku, Prysm and Nimbus' },
  { name: 'configuration', title: 'Configuration', about: 'every setting and flag, with its default' },
  { name: 'operations', title: 'Operations', about: 'addresses, reload, proxies, state, logs' },
  { name: 'upgrading', title: 'Upgrades', about: 'what a version may change, and how to get back' },
  { name: 'troubleshooting', title: 'Troubleshooting', about: 'symptoms, where to look, what to do' },
  { name: 'faq', title: 'Questions and answers', about: 'common questions of stakers' },
  { name: 'alerts', title: 'Alerts', about: 'the runbook: what each alert means and what to do' },
  { name: 'metrics', title: 'Metrics', about: 'every metric with its type, labels and meaning' },
  { name: 'queries', title: 'PromQL cookbook', about: 'queries for your own graphs and alerts' },
  { name: 'dashboards', title: 'Dashboards', about: 'what the Grafana dashboards show' },
  { name: 'status', title: 'Status page', about: 'what the headline and the notices mean' },
  { name: 'budget', title: 'Request budget', about: 'how the requests of a plan are divided' },
  { name: 'validators', title: 'Your validators', about: 'online, duties, sync committees, and what each costs' },
  {
    name: 'slashings',
    title: 'How slashings and proposals are counted',
    about: 'what is counted, when it is counted, and watched validators',
  },
  { name: 'backfill', title: 'Backfill', about: 'history for a Prometheus that starts today' },
  { name: 'web-config', title: 'TLS, passwords and limits', about: 'the web config file' },
  {
    name: 'sandbox',
    title: 'The simulated service',
    about: 'how to try the exporter without a key, and to cause alerts',
  },
  { name: 'high-availability', title: 'High availability', about: 'replicas that share one account' },
  { name: 'verification', title: 'Verify a release', about: 'signatures and provenance of package and image' },
  { name: 'glossary', title: 'Glossary', about: 'the terms used in these pages' },
];

/** The pictures in these documents, files of docs/images. */
export const PICTURES: readonly string[] = ['exporter.png', 'fleet.png', 'returns.png'];
