import type { Answer, Transport } from '../../src/api/transport.ts';
import type { Gate } from './gate.ts';

/** A transport whose requests leave, and whose answers arrive, only while the process runs. */
export function gated(send: Transport, gate: Gate): Transport {
  return async (request, signal) => {
    const [sent] = await gate.call('request', () => {
      const sending = send(request, signal);
      // A process that dies right after this hears of no failure.
      sending.catch(() => undefined);
      return [sending] as const;
    });
    const answer = await arriving(sent, gate);
    return { ...answer, body: () => bodyOf(answer, gate) };
  };
}

async function* bodyOf(answer: Answer, gate: Gate): AsyncGenerator<Uint8Array> {
  const pieces = answer.body()[Symbol.asyncIterator]();
  try {
    for (;;) {
      const piece = await arriving(pieces.next(), gate);
      if (piece.done) return;
      yield piece.value;
    }
  } finally {
    await pieces.return?.();
  }
}

async function arriving<T>(coming: Promise<T>, gate: Gate): Promise<T> {
  const outcome = await coming.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );
  return gate.call('answer', outcome);
}
