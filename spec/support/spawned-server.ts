import { join } from 'node:path';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';

/** The server to start and the cluster that it belongs to. */
export interface ServerOptions {
  /** With metrics-server's service account. */
  readonly kubeconfig: string;
  /** The authority of the kubelets' certificates. */
  readonly kubeletCa: string;
  /** On 127.0.0.1. */
  readonly port: number;
  /** A temporary folder of the cluster. */
  readonly folder: string;
  /** Flags in addition to those that connect the server to the cluster. */
  readonly flags?: readonly string[];
  /** The command line before the flags; by default, the server runs from source. */
  readonly program?: readonly [string, ...string[]];
  /** Environment variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The command line that runs the server from source. */
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
