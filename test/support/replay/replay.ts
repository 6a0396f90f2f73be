import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHAIN_NAMES, type Chain } from '../../../src/lib/chain.ts';
import type { FaultServer, Respond } from '../fault-server.ts';
import { startService } from '../service.ts';
import { answerAt, type Dump, kindOf, type Recorded } from './answer-at.ts';

/** The answers in a folder that `check --probe.dump` has written, or somebody by hand. */
export function readDump(folder: string): Dump {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.sort().map((name): Recorded => JSON.parse(readFileSync(join(folder, name), 'utf8')));
}

/** Starts the service that was recorded, on a free port. Its times are moved to now. */
export function startReplay(dump: Dump, key: string): Promise<FaultServer> {
  return startService(key, { request: replay(dump) });
}

/** The configuration of a program that is to ask a replay. A v1 path begins with the name of its chain. */
export function replayConfig({ url }: FaultServer, folder: string, chains: readonly Chain[] = ['mainnet']): string {
  const hosts = chains.map((chain) => `${chain}: {v1_base_url: "${url}/${chain}"}`).join(', ');
  return `api: {base_url: "${url}"}\nchains: {${hosts}}\nstate: {dir: "${folder}"}\n`;
}

/** Several answers to one request are given in their order, the last one also from then on. */
function replay(dump: Dump): Respond {
  const groups = [...Map.groupBy(dump, ({ request, chain }) => JSON.stringify([request, chain])).values()];
  const given = new Map<Dump, number>();
  return ({ method, path: url, body: sent, at }, _genuine, response) => {
    const asked = askedOf(method, url, sent);
    const group = groupFor(groups, asked);
    if (!group) return { status: 404, headers: { 'content-type': 'application/json' }, body: '{"error":"Not Found"}' };
    const count = given.get(group) ?? 0;
    given.set(group, count + 1);
    const answer = group[Math.min(count, group.length - 1)] as Recorded;
    const { 'content-encoding': _, ...headers } = answer.headers;
    const json = answer.body === undefined ? undefined : JSON.stringify(answerAt(dump, answer, asked, at));
    const body = json ?? answer.text;
    if (body !== undefined) return { status: answer.status, headers, body };
    // The recorded answer broke off.
    response.destroy();
    return 'silence';
  };
}

interface Asked {
  readonly method: string;
  /** As recorded: without the chain. */
  readonly path: string;
  readonly chain: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const OF_CHAIN = new RegExp(`^/(${CHAIN_NAMES.join('|')})(/.*)$`);

function askedOf(method: string, url: string, sent: string): Asked {
  const body = sent === '' ? {} : JSON.parse(sent);
  const [, named = 'mainnet', path = url] = OF_CHAIN.exec(url) ?? [];
  return { method, path, chain: body['chain'] ?? named, body };
}

/** The answers to this very path, or else to another epoch, slot or period. */
function groupFor(groups: readonly Dump[], { method, path, chain }: Asked): Dump | undefined {
  const ofChain = groups.filter(([first]) => {
    return first?.request.method === method && (first.chain === undefined || first.chain === chain);
  });
  return (
    ofChain.find(([first]) => first?.request.path === path) ??
    ofChain.find(([first]) => first && kindOf(first.request.path) === kindOf(path))
  );
}
