import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

// The body of the thread behind the fault black-hole: listens, says so, and sleeps before it could accept anything.
const server = createServer();
server.listen({ host: workerData.address, port: workerData.port, backlog: 1 }, () => {
  parentPort?.postMessage('listening');
  // Messages are posted at once, so that it is heard before the thread falls asleep.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
