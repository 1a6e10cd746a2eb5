import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

// The thread of the fault black-hole: listens, reports that, and sleeps before it accepts a connection.
const server = createServer();
server.listen({ host: workerData.address, port: workerData.port, backlog: 1 }, () => {
  parentPort?.postMessage('listening');
  // Messages are posted synchronously: this one is delivered before the thread sleeps.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
