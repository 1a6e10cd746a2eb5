import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A running process, and the port of all kubelets of its cluster. */
export interface KubeletConnectionsOf {
  readonly pid: number;
  readonly kubeletPort: number;
}

/** Open connections of a process to simulated kubelets, each as the addresses of both ends. */
export function readKubeletConnections({ pid, kubeletPort }: KubeletConnectionsOf): ReadonlySet<string> {
  const connections = parseConnectionsTo(kubeletPort, readFileSync(`/proc/${pid}/net/tcp`, 'latin1'));
  const own = readSockets(pid);
  return new Set([...connections].flatMap(([inode, ends]) => (own.has(inode) ? [ends] : [])));
}

const ESTABLISHED = '01';

/**
 * 127.0.0.1 belongs to no simulated node, but to all other clients, to which the kernel may assign the kubelets' port.
 */
const LOCALHOST = '0100007F';

/**
 * Parses Linux' table of IPv4 TCP connections, see proc(5).
 *
 * @returns both ends of each connection to a kubelet, by the inode of its socket
 */
export function parseConnectionsTo(kubeletPort: number, table: string): ReadonlyMap<string, string> {
  const hexPort = kubeletPort.toString(16).toUpperCase().padStart(4, '0');
  const connections = new Map<string, string>();
  for (const line of table.split('\n').slice(1)) {
    const [, local, remote = '', state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const [address, port] = remote.split(':');
    if (state !== ESTABLISHED || port !== hexPort || address === LOCALHOST) continue;
    connections.set(inode, `${local} ${remote}`);
  }
  return connections;
}

/** Inodes of the sockets of a process. */
function readSockets(pid: number): ReadonlySet<string> {
  const inodes = new Set<string>();
  for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
    const inode = /^socket:\[(\d+)\]$/.exec(readDescriptor(pid, descriptor))?.[1];
    if (inode !== undefined) inodes.add(inode);
  }
  return inodes;
}

/** Returns an empty string if the descriptor has been closed since it was listed. */
function readDescriptor(pid: number, descriptor: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
  } catch {
    return '';
  }
}
