import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** Below these are ports of the system's own servers. */
const FIRST_PORT = 10_000;

/** How many ports each process may give out before it begins again: specs of processes beside each other share none. */
const PORTS_PER_PROCESS = 100;

let given = 0;

/**
 * A port of 127.0.0.1 where nobody listens, for a server that is not told to take any.
 *
 * It is none of those that the kernel hands out by itself, to clients and to those who listen on port 0: any other spec might be
 * given that before the server is there.
 */
export async function freePort(): Promise<number> {
  const slices = Math.floor((firstEphemeralPort() - FIRST_PORT) / PORTS_PER_PROCESS);
  if (slices < 1) return (await portIfFree(0)) ?? 0; // the kernel hands out all of them
  const first = FIRST_PORT + (process.pid % slices) * PORTS_PER_PROCESS;
  for (let tried = 0; tried < PORTS_PER_PROCESS; tried++) {
    const port = await portIfFree(first + (given++ % PORTS_PER_PROCESS));
    if (port !== undefined) return port;
  }
  throw new Error(`Cannot find a free port of ${PORTS_PER_PROCESS} from ${first}`);
}

/** The port, or any where it is 0; `undefined` where it is taken. */
async function portIfFree(port: number): Promise<number | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return undefined;
  }
  const address = server.address();
  await once(server.close(), 'close');
  return typeof address === 'object' ? address?.port : undefined;
}

/** The first of the ports that the kernel hands out; Linux says which, and of others the usual is taken. */
function firstEphemeralPort(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'latin1').split(/\s/)[0]);
  } catch {
    return 32_768;
  }
}
