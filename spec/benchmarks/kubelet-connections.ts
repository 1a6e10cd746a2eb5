import { readFileSync } from 'node:fs';

const ESTABLISHED = '01';

/** The connections to kubelets that are open on this machine, each by both of its ends. */
export function readKubeletConnections(kubeletPort: number): ReadonlySet<string> {
  return parseConnectionsTo(kubeletPort, readFileSync('/proc/net/tcp', 'latin1'));
}

/** Understands Linux' table of TCP connections over IPv4, as proc(5) describes it. */
export function parseConnectionsTo(port: number, table: string): ReadonlySet<string> {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  const connections = new Set<string>();
  for (const line of table.split('\n').slice(1)) {
    const [, local, remote, state] = line.trim().split(/\s+/);
    if (state === ESTABLISHED && remote?.endsWith(`:${hexPort}`)) connections.add(`${local} ${remote}`);
  }
  return connections;
}
