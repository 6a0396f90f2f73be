// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a config names a variable.

const DURATION = 'expected a duration such as 30s, 5m, 1h, 31d';
const REDIS_URL =
  'state.redis.url: expected the URL of one server such as redis://host:6379/0 or rediss://user:password@host:6379, with the password percent-encoded';
const URL = 'expected a URL that begins with http:// or https://, without credentials, query or fragment';
const INDEX =
  'expected a validator index such as 12345, a range such as "20000-20099", or a public key of 0x and 96 hexadecimal digits';

const KEY = `0x${'ab'.repeat(48)}`;
const ADDRESS = 'expected an address of 0x and 40 hex digits';

/** A configuration, and the lines reported for its file. */
interface MistakenConfig {
  readonly text: string;
  readonly lines: readonly string[];
  /** Only the program finds it, because the schema does not see files, variables, other parts of the file or the syntax. */
  readonly isBeyondSchema?: true;
}

/** One configuration of each kind of mistake. */
export const MISTAKEN: Readonly<Record<string, MistakenConfig>> = {
  'unknown keys': {
    text: `machines:
  intervall: 5m
  chain_rules: [{match: "a*", chains: mainnet}]
loging: {}
`,
    lines: [
      ':2: machines.intervall: unknown key, did you mean interval? Expected one of enabled, interval, stale_after, forget_after, expected, include, exclude, max, chain, chain_rules',
      ':3: machines.chain_rules[0].chain: expected mainnet or hoodi, got nothing',
      ':3: machines.chain_rules[0].chains: unknown key, did you mean chain? Expected one of match, chain',
      ':4: loging: unknown key, expected one of api, budget, chains, machines, groups, validators, daily_returns, slashings, sync_committee, network, state, web, log',
    ],
  },
  'wrong types': {
    text: `api: secret-key-in-the-wrong-place
machines:
  enabled: yes
  max: 1.5
  expected: node-1
  include: [12345, ""]
  chain_rules: {match: x, chain: mainnet}
daily_returns:
  - enabled
log: {level: verbose, format: text}
`,
    lines: [
      ':1: api: expected a mapping, got a single value',
      ':3: machines.enabled: expected true or false, got "yes"',
      ':4: machines.max: expected a whole number, got 1.5',
      ':5: machines.expected: expected a list of names, got "node-1"',
      ':6: machines.include[0]: expected a name (in quotes if it looks like a number), got 12345',
      ':6: machines.include[1]: expected a name, got ""',
      ':7: machines.chain_rules: expected a list such as [{match: "hoodi-*", chain: hoodi}], got a mapping',
      ':8: daily_returns: expected a mapping, got a list',
      ':10: log.level: expected debug, info, warn or error, got "verbose"',
      ':10: log.format: expected json, pretty or null, got "text"',
    ],
  },
  durations: {
    text: `api: {timeout: 2h}
machines:
  interval: 500ms
  stale_after: soon
daily_returns: {interval: 60}
slashings:
  interval: 30s1m
  catch_up: -7d
sync_committee:
  interval:
`,
    lines: [
      ':1: api.timeout: expected a duration of at most 1h, got "2h"',
      ':3: machines.interval: expected a duration of at least 1s, got "500ms"',
      ':4: machines.stale_after: expected auto or a duration such as 30s, 5m, 1h, 31d, got "soon"',
      `:5: daily_returns.interval: ${DURATION}, got 60`,
      `:7: slashings.interval: ${DURATION}, got "30s1m"`,
      `:8: slashings.catch_up: ${DURATION}, got "-7d"`,
      `:10: sync_committee.interval: ${DURATION}, got nothing`,
    ],
  },
  'unset variables': {
    text: 'machines:\n  interval: ${UNSET_A}${UNSET_B}\n  expected: [a, "${UNSET_A}"]\napi: {key: "${secret:-key}"}\n',
    lines: [
      ':2: machines.interval: the environment variable UNSET_A is not set; the environment variable UNSET_B is not set',
      ':3: machines.expected[1]: the environment variable UNSET_A is not set',
      ':4: api.key: expected the name of an environment variable between the braces',
    ],
    isBeyondSchema: true,
  },
  'keys given twice': {
    text: 'log:\n  level: info\n  level: loud\nmachines: {interval: 1}\nmachines: {}\n',
    lines: [
      ':3: the key is given twice: level',
      ':3: log.level: expected debug, info, warn or error, got "loud"',
      ':5: the key is given twice: machines',
    ],
    isBeyondSchema: true,
  },
  'an unknown chain': {
    text: 'chains:\n  mainnet: {}\n  hoody: {}\nmachines: {chain: goerli}\n',
    lines: [
      ':3: chains.hoody: unknown key, did you mean hoodi? Expected one of mainnet, hoodi',
      ':4: machines.chain: expected auto, mainnet or hoodi, got "goerli"',
    ],
  },
  'a chain that is not configured': {
    text: `machines:
  chain: hoodi
  chain_rules: [{match: "a-*", chain: mainnet}, {match: "hoodi-*", chain: hoodi}]
validators:
  watch: {mainnet: [1], hoodi: [2]}
groups:
  home: {validators: {hoodi: [3]}}
`,
    lines: [
      ':2: machines.chain: expected a chain that is configured (mainnet), got "hoodi"',
      ':3: machines.chain_rules[1].chain: expected a chain that is configured (mainnet), got "hoodi"',
      ':5: validators.watch.hoodi: expected a chain that is configured (mainnet), got "hoodi"',
      ':7: groups.home.validators.hoodi: expected a chain that is configured (mainnet), got "hoodi"',
    ],
    isBeyondSchema: true,
  },
  'one list of validators for two chains': {
    text: 'chains: {mainnet: {}, hoodi: {}}\nvalidators: {watch: [1]}\n',
    lines: [
      ':2: validators.watch: expected one list per chain: {mainnet: [...], hoodi: [...]}, because several chains are configured',
    ],
    isBeyondSchema: true,
  },
  'watched validators': {
    text: `validators:
  watch:
    - 12345
    - "300-200"
    - -1
    - all
    - 0x93247F2209ABCACF57B75A51DAFAE777F9DD38BC7053D1AF526F220A7489A6D3A2753E5F3E8B1CFE39B56F43611DF74A
    - "0x93247f2209abcacf57b75a51dafae777f9dd38bc7053d1af526f220a7489a6d3a2753e5f3e8b1cfe39b56f43611df74"
    - b89bebc699769726a318c8e9971bd3171297c61aea4a6578a7a4f94b547dcba5bac16a89108b6b6a1fe3695d1a874a0b
    - 100000000000000000000
  watch_files: [""]
`,
    lines: [
      ':4: validators.watch[1]: the start of the range is larger than its end',
      `:5: validators.watch[2]: ${INDEX}, got -1`,
      `:6: validators.watch[3]: ${INDEX}, got "all"`,
      ':8: validators.watch[5]: expected a public key of 0x and 96 hexadecimal digits, not 95 digits, got "0x93247f2209abcacf57b75a51dafae777f9dd38bc7053d1af526f220a74..."',
      ':9: validators.watch[6]: expected a public key with 0x before its 96 digits, got "b89bebc699769726a318c8e9971bd3171297c61aea4a6578a7a4f94b547d..."',
      `:10: validators.watch[7]: ${INDEX}, got 100000000000000000000`,
      ':11: validators.watch_files[0]: expected the path of a file',
    ],
  },
  'fee recipients': {
    text: `validators:
  fee_recipients:
    - "0x1234"
    - 0X388c818ca8b9251b393131c08a736a67ccb19297
    - 388C818CA8B9251b393131C08a736A67ccB19297
    - 7
`,
    lines: [
      `:3: validators.fee_recipients[0]: ${ADDRESS}, got "0x1234"`,
      `:5: validators.fee_recipients[2]: ${ADDRESS}, got "388C818CA8B9251b393131C08a736A67ccB19297"`,
      `:6: validators.fee_recipients[3]: ${ADDRESS}, got 7`,
    ],
  },
  groups: {
    text: `groups:
  home: {machines: [node-a, "home-*"], validators: ["10-20", 5]}
  office: {machines: ["home-*", node-a], validators: [7, "18-30"]}
  club: {machines: ["node-*"], validators: [20, "${KEY}"]}
  lab: {validators: [40, "${KEY.toUpperCase()}"]}
`,
    lines: [
      ':3: groups.office.validators: validator 18 is in the groups home and office, expected it in one of them',
      ':3: groups.office.machines[0]: machine "home-*" is in the groups home and office, expected it in one of them',
      ':3: groups.office.machines[1]: machine "node-a" is in the groups home and office, expected it in one of them',
      ':4: groups.club.validators: validator 20 is in the groups home and club, expected it in one of them',
      ':5: groups.lab.validators: validator 0xabababab is in the groups club and lab, expected it in one of them',
    ],
    isBeyondSchema: true,
  },
  'keys and values of groups': {
    text: `groups:
  home: {machine: [node-a], validators: 7}
  office: [node-b]
network: {enabled: yes, interval: 500ms}
`,
    lines: [
      ':2: groups.home.validators: expected a list such as [12345, "20000-20099"], or one per chain such as {mainnet: [12345]}, got 7',
      ':2: groups.home.machine: unknown key, did you mean machines? Expected one of machines, validators',
      ':3: groups.office: expected a mapping, got a list',
      ':4: network.enabled: expected auto, true or false, got "yes"',
      ':4: network.interval: expected a duration of at least 1s, got "500ms"',
    ],
  },
  'one list of a group for two chains': {
    text: `chains: {mainnet: {}, hoodi: {}}
groups:
  home: {validators: [1]}
  office: {validators: {mainnet: [1], goerli: [2]}}
`,
    lines: [
      ':3: groups.home.validators: expected one list per chain: {mainnet: [...], hoodi: [...]}, because several chains are configured',
      ':4: groups.office.validators.goerli: unknown key, expected one of mainnet, hoodi',
    ],
    isBeyondSchema: true,
  },
  plans: {
    text: 'budget:\n  plan: {per_second: fast, per_month: 0}\n  utilization: 90\n',
    lines: [
      ':2: budget.plan.per_second: expected a number, got "fast"',
      ':2: budget.plan.per_month: expected a whole number of at least 1, got 0',
      ':3: budget.utilization: expected a number above 0 and up to 1, got 90',
    ],
  },
  'an invalid key': {
    text: 'api: {key: secret key}\n',
    lines: [':1: api.key: expected an API key of printable ASCII characters without spaces'],
  },
  addresses: {
    text: 'web: {listen_address: "[::1]:70000", telemetry_path: "/", external_url: "a:10032"}\n',
    lines: [
      ':1: web.listen_address: expected host:port, :port, or [::1]:port for IPv6, or a list of them, got "[::1]:70000"',
      ':1: web.telemetry_path: expected a path such as /metrics, other than /, /-/... and /docs/..., got "/"',
      `:1: web.external_url: ${URL}`,
    ],
  },
  'IPv6 addresses without brackets, and IPv4 addresses with a number that is too large': {
    text: 'web: {listen_address: [":::10032", "192.168.1.300:1"]}\n',
    lines: [
      ':1: web.listen_address[0]: expected host:port, :port, or [::1]:port for IPv6, got ":::10032"',
      ':1: web.listen_address[1]: expected an IPv4 address of four numbers from 0 to 255, or a name',
    ],
  },
  'an empty list of addresses': {
    text: 'web: {listen_address: []}\n',
    lines: [':1: web.listen_address: expected at least one address such as :10032, got a list'],
  },
  URLs: {
    text: `api: {base_url: "https://user:secret@beaconcha.in"}
chains:
  mainnet: {v1_base_url: "https://beaconcha.in?apikey=secret"}
  hoodi: {v1_base_url: ftp://hoodi.beaconcha.in}
`,
    lines: [
      `:1: api.base_url: ${URL}`,
      `:3: chains.mainnet.v1_base_url: ${URL}`,
      `:4: chains.hoodi.v1_base_url: ${URL}`,
    ],
  },
  'settings of Redis': {
    text: 'state:\n  redis:\n    url: "http://:secret@localhost"\n    prefix: "two words"\n    host: localhost\n    password: 2026\n',
    lines: [
      `:3: ${REDIS_URL}`,
      ':4: state.redis.prefix: expected letters, digits and any of : . _ { } -, got "two words"',
      ':5: state.redis.host: unknown key, expected one of url, password, prefix',
      ':6: state.redis.password: expected a password in quotes',
    ],
  },
  'two documents': {
    text: 'log: {level: info}\n---\nlog: {level: debug}\n',
    lines: [':2: expected one document, got several'],
    isBeyondSchema: true,
  },
  'a key that is indented too far, and an open quote': {
    text: 'machines:\n  interval: 1m\n   max: 2\napi:\n  key: "secret\n',
    lines: [
      ':2: a key is not allowed here: it may be indented too far, or a text that contains ": " may need quotes',
      ':5: a quote, bracket, colon or comma is missing',
    ],
    isBeyondSchema: true,
  },
  'brackets and braces': {
    text: 'machines:\n  expected: [a, [b]\n  include: [a,, b]\nlog: {level: info format: json}\nweb: {a: [1}\n',
    lines: [
      ':2: this [ is not closed',
      ':3: a value is missing before a comma',
      ':4: between brackets or braces, a comma is missing',
      ':5: this [ is not closed',
    ],
    isBeyondSchema: true,
  },
  'a text that needs quotes': {
    text: 'machines:\n  chain_rules:\n    - match: *-hoodi\n      chain: mainnet\n',
    lines: [':3: machines.chain_rules[0].match: a text that starts with * needs quotes'],
    isBeyondSchema: true,
  },
};
