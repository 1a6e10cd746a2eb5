import { chown, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from '#spec/support/machine-programs.ts';
import { runToEnd } from '#spec/support/run-to-end.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import type { BuiltImage } from '../image/build-image.ts';

/** The fields of a Deployment's container that apply to a process. */
export interface ServerContainer {
  readonly args: readonly string[];
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup?: number };
}

const CONFINE = fileURLToPath(new URL('../image/confine.sh', import.meta.url));
const NAMESPACE = 'kube-system';

/** Whether this machine can apply the manifest's security context to a process. */
export async function canConfine(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const unshare = await findProgram('unshare');
  if (unshare === undefined) return false;
  const trial = await runToEnd(unshare, ['--mount', 'setpriv', '--no-new-privs', 'true'], 5_000);
  return trial.exitStatus === 0;
}

/**
 * Starts the image's program as the kubelet would: with the container's arguments, its user, and a service account
 * token from the API server. Adds two flags for the listen address, because pods have no addresses here.
 *
 * @param folder exclusive to this process; contains everything that it may write
 */
export async function startInstalledServer(
  controlPlane: ControlPlane,
  facts: {
    readonly image: BuiltImage;
    readonly container: ServerContainer;
    readonly port: number;
    readonly folder: string;
    readonly isConfined: boolean;
  },
): Promise<SpawnedProgram> {
  const { image, container, port, folder, isConfined } = facts;
  const account = join(folder, 'account');
  const scratch = join(folder, 'tmp');
  await mkdir(account, { recursive: true });
  await mkdir(scratch, { recursive: true, mode: 0o777 });
  await writeFile(join(account, 'token'), await issueToken(controlPlane, 'metrics-server'));
  await writeFile(join(account, 'ca.crt'), controlPlane.pki.serverCa.certificatePem);
  const args = [...container.args, '--bind-address=127.0.0.1', `--secure-port=${port}`];

  if (!isConfined) {
    const kubeconfig = join(folder, 'metrics-server.kubeconfig');
    const token = await issueToken(controlPlane, 'metrics-server');
    await writeFile(kubeconfig, controlPlane.kubeconfigFor('metrics-server', { token }), { mode: 0o600 });
    const main = join(image.root, image.entrypoint.at(-1) ?? '');
    return new SpawnedProgram(
      process.execPath,
      [main, ...args, `--kubeconfig=${kubeconfig}`, `--cert-dir=${scratch}`],
      { name: 'the server' },
    );
  }
  const { runAsUser, runAsGroup = runAsUser } = container.securityContext;
  await chown(scratch, runAsUser, runAsGroup);
  const root = join(folder, 'root');
  await mkdir(root, { recursive: true });
  const node = join(folder, 'node'); // other users may be unable to read the checkout
  await copyFile(process.execPath, node);
  const places = [root, image.root, node, scratch, account].map((place) => resolve(place));
  return new SpawnedProgram(
    (await findProgram('unshare')) ?? '',
    ['--mount', CONFINE, ...places, `${runAsUser}:${runAsGroup}`, ...image.entrypoint, ...args],
    {
      name: 'the server',
      env: {
        PATH: process.env.PATH,
        KUBERNETES_SERVICE_HOST: '127.0.0.1',
        KUBERNETES_SERVICE_PORT: String(controlPlane.port),
      },
    },
  );
}

/** Requests a service account token from the API server, as the kubelet does for pods. */
export async function issueToken(
  { client }: ControlPlane,
  account: string,
  namespace = NAMESPACE,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const { status } = await client.create(path, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600 },
  });
  return (status as { readonly token: string }).token;
}
