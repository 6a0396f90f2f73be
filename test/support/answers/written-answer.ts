import type { Answer } from '../../../src/api/transport.ts';

interface Written extends Pick<Answer, 'status'>, Partial<Pick<Answer, 'headers'>> {
  readonly body?: string;
}

/** An answer of the transport, written by hand. */
export function writtenAnswer({ status, headers = {}, body = '' }: Written): Answer {
  return { status, headers, body: () => bodyOf(body), discard: () => undefined };
}

/** The body of an answer, in one piece. */
export async function* bodyOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
