import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';

/** Below these are ports of the system's own servers. */
const FIRST_PORT = 10_000;

/** How many ports each process gives out before it begins again: specs of processes beside each other share none. */
const PORTS_PER_PROCESS = 100;

let given = 0;
let claimed: Promise<number> | undefined;

/**
 * A port of 127.0.0.1 where nobody listens, for a server that is not told to take any.
 *
 * It is none of those that the kernel hands out by itself, to clients and to those who listen on port 0: any other spec might be
 * given that before the server is there.
 */
export async function freePort(): Promise<number> {
  claimed ??= claimPorts();
  const first = await claimed;
  if (first === 0) return await closed(await listen(0)); // the kernel hands out all of them
  for (let tried = 1; tried < PORTS_PER_PROCESS; tried++) {
    const server = await listen(first + 1 + (given++ % (PORTS_PER_PROCESS - 1)));
    if (server) return await closed(server);
  }
  throw new Error(`Cannot find a free port of ${PORTS_PER_PROCESS} from ${first}`);
}

/** The first of as many ports as a process gives out, where this one listens while it runs: another takes others. 0 if there are none. */
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

/** A server at the port, or at any where it is 0; `undefined` where that is taken. */
async function listen(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  return await once(server, 'listening').then(
    () => server,
    () => undefined,
  );
}

/** The port of a server that has ended. */
async function closed(server: Server | undefined): Promise<number> {
  const address = server?.address();
  if (server) await once(server.close(), 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

/** The first of the ports that the kernel hands out; Linux says which, and of others the usual is taken. */
function firstEphemeralPort(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'latin1').split(/\s/)[0]);
  } catch {
    return 32_768;
  }
}
