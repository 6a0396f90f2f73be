import type { UnixMs } from '../lib/time.ts';
import { type SandboxAnswer, type SandboxRequest, textAnswer } from './answer.ts';
import { BadOrder, ORDERS, type Order } from './order-table.ts';
import type { Sandbox } from './world.ts';

const PREFIX = '/-/';

/** Executes the order at this path; undefined if the path is not that of an order. */
export function control(
  sandbox: Sandbox,
  request: Pick<SandboxRequest, 'method' | 'path'>,
  now: UnixMs,
): SandboxAnswer | undefined {
  const [path = '', query] = request.path.split('?', 2);
  if (!path.startsWith(PREFIX)) return undefined;
  const order = Object.hasOwn(ORDERS, path) ? ORDERS[path] : undefined;
  if (!order) return textAnswer(404, `unknown order ${path}, expected one of ${Object.keys(ORDERS).join(', ')}`);
  if (request.method !== 'POST') return textAnswer(405, `${path} requires POST`);
  try {
    const given = new URLSearchParams(query);
    refuseUnknown(order, given);
    return textAnswer(200, order.carryOut(sandbox, given, now));
  } catch (error) {
    if (error instanceof BadOrder) return textAnswer(400, error.message);
    throw error;
  }
}

/** Otherwise a mistyped parameter would silently get the default. */
function refuseUnknown({ parameters }: Order, given: URLSearchParams): void {
  const known = Object.keys(parameters);
  const unknown = [...given.keys()].find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new BadOrder(`${unknown}: unknown parameter, expected ${known.join(', ') || 'none'}`);
}
