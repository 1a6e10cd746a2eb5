import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Whose connections to look for: a running process, and the port on which all kubelets of its cluster listen. */
export interface KubeletConnectionsOf {
  readonly pid: number;
  readonly kubeletPort: number;
}

/** The connections to simulated kubelets that a process has open, each by both of its ends. */
export function readKubeletConnections({ pid, kubeletPort }: KubeletConnectionsOf): ReadonlySet<string> {
  const connections = parseConnectionsTo(kubeletPort, readFileSync(`/proc/${pid}/net/tcp`, 'latin1'));
  const own = readSockets(pid);
  return new Set([...connections].flatMap(([inode, ends]) => (own.has(inode) ? [ends] : [])));
}

const ESTABLISHED = '01';

/** 127.0.0.1, where no simulated node is, but every other client: the kernel may give one of them the kubelets' port. */
const LOCALHOST = '0100007F';

/**
 * Understands Linux' table of TCP connections over IPv4, as proc(5) describes it.
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

/** The inodes of the sockets that a process holds. */
function readSockets(pid: number): ReadonlySet<string> {
  const inodes = new Set<string>();
  for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
    const inode = /^socket:\[(\d+)\]$/.exec(readDescriptor(pid, descriptor))?.[1];
    if (inode !== undefined) inodes.add(inode);
  }
  return inodes;
}

/** Empty where it has been closed since it was listed. */
function readDescriptor(pid: number, descriptor: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
  } catch {
    return '';
  }
}
