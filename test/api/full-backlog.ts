import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/** Listens and never accepts a connection. */
const LISTENER = `
  const { workerData, parentPort } = require('node:worker_threads');
  require('node:net').createServer().listen({ ...workerData, backlog: 1 }, () => {
    parentPort.postMessage('listening');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

/** More connections than the kernel accepts for a backlog of 1. */
const FILLERS = 4;

/** Fills the backlog of a port, so that it neither accepts nor refuses connections. Returns a function that frees the port. */
export async function fillBacklog(port: number): Promise<() => Promise<void>> {
  const worker = new Worker(LISTENER, { eval: true, workerData: { port, host: '127.0.0.1' } });
  await once(worker, 'message');
  const fillers: Socket[] = [];
  for (let i = 0; i < FILLERS; i += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    fillers.push(socket);
    // The first one connects at once. How many do depends on the kernel.
    if (i === 0) await once(socket, 'connect');
  }
  return async () => {
    for (const socket of fillers) socket.destroy();
    await worker.terminate();
  };
}
