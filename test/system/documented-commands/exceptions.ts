const OF_OTHERS = 'a program of others, which changes on its own';
const LONG = 'takes minutes';
const NAMED = 'names a command or a flag without the rest';
const MACHINE = 'looks at the machine of the reader';

/** Commands that are not run, and why. `*` stands for anything. */
export const EXCEPTIONS: readonly (readonly [command: string, why: string])[] = [
  ['apt-get install *', 'changes the machine; .ci/tools does it'],
  ['curl -v https://beaconcha.in', OF_OTHERS],
  ['npm ci*', 'needs the registry; .ci/run and the Dockerfile do it'],
  ['npm audit *', 'needs the registry'],
  ['npm install --save-exact', NAMED],
  ['npm install --global *', 'scripts/try-package installs the package'],
  ['npm test', 'would run this test again'],
  ['npm run verify', LONG],
  ['npm exec -- node scripts/cut-release.ts 1.2.3', 'changes the checkout; test/scripts tries it'],
  ['npm publish', NAMED],
  ['*check --probe*', 'asks its reader; test/system/programs/check.test.ts runs it'],
  ['npm run package*', `${LONG}; scripts/try-deb installs the result`],
  ['npm run fuzz', LONG],
  ['npm run simulate*', LONG],
  ['npm run bench*', LONG],
  ['npx vitest run *', LONG],
  ['node --disable-sigusr1', NAMED],
  ['promtool test rules *', 'takes a minute; test/rules.test.ts runs it'],
  ['sudo -u prometheus', NAMED],
  ['kill -9', NAMED],
  ['docker ps', MACHINE],
  ['systemctl status', MACHINE],
  ['systemctl reload prometheus *', OF_OTHERS],
  ['journalctl -b *', MACHINE],
  ['ss -ltnp', MACHINE],
  ['ssh -L *', 'needs another machine'],
  ['amtool --alertmanager.url=* alert add *', 'needs an Alertmanager that runs'],
  ['htpasswd *', OF_OTHERS],
  ['lighthouse *', OF_OTHERS],
  ['eth2-client-metrics-exporter *', OF_OTHERS],
  ['rocketpool *', OF_OTHERS],
];

/** Blocks that another test runs, word for word: document, heading or first words, test. */
export const RUN_ELSEWHERE: readonly (readonly [file: string, block: string, test: string])[] = [
  ['docs/installation.md', 'Without dpkg', 'scripts/try-deb'],
  // The workflow of a release runs them, on the release.
  ['docs/installation.md', 'Verify a release', 'test/workflows/workflows.test.ts'],
  ['docs/validators.md', 'Before a restart', 'test/system/programs/safe-to-restart.test.ts'],
];

/** What a document leaves for its reader to fill in, and what the tests fill in. */
export const FILLED_IN = [
  ['BEACONCHAIN_API_KEY=...', 'BEACONCHAIN_API_KEY=a-key-of-the-reader'],
  ['--config.file=...', '--config.file=config.yaml'],
  ['cd /usr/share/beaconchain-exporter ', 'cd deploy '],
  ['cd ~/.rocketpool', 'mkdir -p rp/extra-scrape-jobs rp/alerting/rules && cd rp'],
  [' /usr/share/beaconchain-exporter/', ' ../deploy/'],
  ['data=...', 'data=/var/lib/tsdb'],
] as const;

/** The exception that a whole command is, or the first words of it. */
export function exceptionOf(command: string): string | undefined {
  return EXCEPTIONS.find(([pattern]) => patternOf(pattern).test(command))?.[0];
}

function patternOf(glob: string): RegExp {
  const parts = glob.split('*').map((part) => part.replace(/[^\w\s/]/g, '\\$&'));
  return new RegExp(`^(?:sudo )?(?:[A-Z_]+=\\S+ )*${parts.join('.*')}$`);
}
