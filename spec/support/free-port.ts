import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';

/** System servers use the ports below. */
const FIRST_PORT = 10_000;

/** Ports that each process uses before it starts again: concurrent processes share none. */
const PORTS_PER_PROCESS = 100;

let given = 0;
let claimed: Promise<number> | undefined;

/**
 * A port of 127.0.0.1 without a listener, for a server that needs a fixed port.
 *
 * It is outside the kernel's ephemeral range, which clients and listeners on port 0 use: the kernel might assign an
 * ephemeral port to another spec before the server listens.
 */
export async function freePort(): Promise<number> {
  claimed ??= claimPorts();
  const first = await claimed;
  if (first === 0) return await closed(await listen(0)); // all ports are ephemeral
  for (let tried = 1; tried < PORTS_PER_PROCESS; tried++) {
    const server = await listen(first + 1 + (given++ % (PORTS_PER_PROCESS - 1)));
    if (server) return await closed(server);
  }
  throw new Error(`Cannot find a free port of ${PORTS_PER_PROCESS} from ${first}`);
}

/** Claims a block of ports by listening on the first, so that other processes claim others. 0 if no block is free. */
async function claimPorts(): Promise<number> {
  const slices = Math.floor((firstEphemeralPort() - FIRST_PORT) / PORTS_PER_PROCESS);
  for (let tried = 0; tried < slices; tried++) {
    const first = FIRST_PORT + ((process.pid + tried) % slices) * PORTS_PER_PROCESS;
    const server = await listen(first);
    if (server) {
      server.unref();
      return first;
    }
  }
  return 0;
}

/** Listens on the port, or on any if it is 0; `undefined` if the port is in use. */
async function listen(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  return await once(server, 'listening').then(
    () => server,
    () => undefined,
  );
}

/** Closes a server and returns its port. */
async function closed(server: Server | undefined): Promise<number> {
  const address = server?.address();
  if (server) await once(server.close(), 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

/** The first ephemeral port: from Linux's setting, or the usual one on other systems. */
function firstEphemeralPort(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'latin1').split(/\s/)[0]);
  } catch {
    return 32_768;
  }
}
