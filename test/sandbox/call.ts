import { expect } from 'vitest';
import { answer, type SandboxAnswer } from '../../src/sandbox/answer.ts';
import { control } from '../../src/sandbox/control.ts';
import { Sandbox, type SandboxOptions } from '../../src/sandbox/world.ts';

/** Thursday, 2025-11-20 10:00:00 UTC. */
export const NOW = Date.UTC(2025, 10, 20, 10);
export const SECOND = 1000;
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export function sandboxOf(options: SandboxOptions = {}): Sandbox {
  return new Sandbox({ plan: { perSecond: 1e6 }, ...options });
}

/** v2, with the key of the sandbox. */
export function post(sandbox: Sandbox, path: string, body: unknown, now = NOW): SandboxAnswer {
  const headers = { authorization: `Bearer ${sandbox.account.key}`, 'content-type': 'application/json' };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return answer(sandbox, { method: 'POST', path, headers, body: text }, now);
}

/** The body of an answer of v2 that is no refusal. */
export function read(sandbox: Sandbox, path: string, body: unknown, now = NOW) {
  const { status, body: text } = post(sandbox, path, body, now);
  expect(status).toBe(200);
  return JSON.parse(text);
}

/** The pages that begin with the answer to `body`, each requested `stepMs` after the one before. */
export function pagesOf<P extends { paging: { next_cursor: string } }>(
  page: (body: object, now: number) => P,
  body: object,
  now = NOW,
  stepMs = 0,
): P[] {
  const pages: P[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const next = page({ ...body, ...(cursor ? { cursor } : {}) }, now + pages.length * stepMs);
    pages.push(next);
    cursor = next.paging.next_cursor || undefined;
  }
  return pages;
}

/** v1, with the key of the sandbox. */
export function get(sandbox: Sandbox, path: string, now = NOW): SandboxAnswer {
  return answer(sandbox, { method: 'GET', path, headers: { apikey: sandbox.account.key }, body: '' }, now);
}

/** Sends an order. Returns the description of the result. */
export function order(sandbox: Sandbox, path: string, now = NOW): string {
  const { status, body } = control(sandbox, { method: 'POST', path }, now) ?? {};
  expect([path, status]).toEqual([path, 200]);
  return String(body);
}

export function refusalOf({ status, body }: SandboxAnswer): { status: number; body: unknown } {
  return { status, body: JSON.parse(body) };
}

export const BAD_REQUEST = {
  status: 400,
  body: { error: 'Bad request. Please check your input and try again.' },
};
