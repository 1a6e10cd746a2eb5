import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { Fault } from './fault.ts';

// How many connections the kernel completes for a listener that never accepts is its own affair: one or two.
const FILLERS = 4;

/**
 * Packets vanish: a listener that never accepts has its queue full, so that the kernel drops further SYNs and the
 * caller's connection attempt hangs. Only a thread that sleeps for good can hold such a listener.
 */
export const blackHole: Fault = {
  takePort: async (endpoint) => {
    const worker = new Worker(new URL('./deaf-listener.ts', import.meta.url), { workerData: endpoint });
    await once(worker, 'message');
    const fillers = Array.from({ length: FILLERS }, () => fill(endpoint));
    await Promise.race(fillers.map((socket) => once(socket, 'connect')));
    return {
      [Symbol.asyncDispose]: async () => {
        for (const socket of fillers) socket.destroy();
        await worker.terminate();
      },
    };
  },
};

function fill({ address, port }: { readonly address: string; readonly port: number }): Socket {
  const socket = connect({ host: address, port });
  socket.on('error', () => {}); // it may still hang when the fault ends
  return socket;
}
