import { join } from 'node:path';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';

/** Which server to start, and the cluster it belongs to. */
export interface ServerOptions {
  /** Of metrics-server's own account. */
  readonly kubeconfig: string;
  /** The authority of the kubelets' certificates. */
  readonly kubeletCa: string;
  /** On 127.0.0.1. */
  readonly port: number;
  /** A folder of the cluster's, which goes with it. */
  readonly folder: string;
  /** Flags beside those that join the server to the cluster. */
  readonly flags?: readonly string[];
  /** The command line up to the flags: the sources of this checkout, unless another is given. */
  readonly program?: readonly [string, ...string[]];
  /** What its environment has beside that of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The server as its sources are run. */
export const SERVER_SOURCE: readonly [string, ...string[]] = [process.execPath, 'lib/main.ts'];

/** Starts a server that scrapes the kubelets of a simulated cluster over verified TLS. */
export function spawnServer(options: ServerOptions): SpawnedProgram {
  const [command, ...args] = options.program ?? SERVER_SOURCE;
  const joined = [
    `--kubeconfig=${options.kubeconfig}`,
    `--kubelet-certificate-authority=${options.kubeletCa}`,
    '--kubelet-use-node-status-port',
    '--bind-address=127.0.0.1',
    `--secure-port=${options.port}`,
    `--cert-dir=${join(options.folder, 'serving')}`,
  ];
  return new SpawnedProgram(command, [...args, ...joined, ...(options.flags ?? [])], {
    name: 'the server',
    env: { ...process.env, ...options.env },
  });
}
