import { access, constants } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';

/** Paths of the programs of a Kubernetes control plane. */
export interface ControlPlaneBinaries {
  readonly etcd: string;
  readonly apiServer: string;
  /** `undefined` if absent, as in the envtest sets. */
  readonly controllerManager: string | undefined;
  /** Source of the programs, for reports. */
  readonly origin: string;
}

const MAKER = fileURLToPath(new URL('make-binaries.sh', import.meta.url));

/**
 * Finds a control plane in `assets` (KUBEBUILDER_ASSETS), or without it among those built earlier.
 *
 * @returns `undefined` if none has been built
 * @throws Error if `assets` contains none: an explicit folder has no fallback
 */
export async function findBinaries(
  assets = process.env.KUBEBUILDER_ASSETS,
  cacheFolder = '.cache/control-plane',
): Promise<ControlPlaneBinaries | undefined> {
  if (!assets) return await binariesIn(cacheFolder, "built from Debian's source package");
  const given = await binariesIn(assets, 'taken from KUBEBUILDER_ASSETS');
  if (given) return given;
  throw new Error(`Cannot find etcd and kube-apiserver in ${assets}, which KUBEBUILDER_ASSETS names`);
}

/**
 * Builds a control plane. Takes minutes, apt and 3 GB of temporary space.
 *
 * @throws Error with the reason, or after `timeoutMs`
 */
export async function makeBinaries(
  { timeoutMs, report }: { readonly timeoutMs: number; readonly report: (line: string) => void },
  { cacheFolder = '.cache/control-plane', maker: command = MAKER } = {},
): Promise<ControlPlaneBinaries> {
  await using maker = new SpawnedProgram(command, [resolve(cacheFolder)], {
    name: 'the maker',
    onLine: report,
  });
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    maker.kill('SIGTERM');
  }, timeoutMs);
  const { status } = await maker.ended.finally(() => clearTimeout(late));
  const made = status === 0 ? await binariesIn(cacheFolder, "built from Debian's source package") : undefined;
  if (made) return made;
  const why = isLate ? `not within ${timeoutMs / 1000} s` : 'see above';
  throw new Error(`Cannot make a control plane: ${why}`);
}

async function binariesIn(folder: string, origin: string): Promise<ControlPlaneBinaries | undefined> {
  const [etcd, apiServer, controllerManager] = await Promise.all(
    ['etcd', 'kube-apiserver', 'kube-controller-manager'].map((name) =>
      executableAt(resolve(join(folder, name))),
    ),
  );
  return etcd && apiServer ? { etcd, apiServer, controllerManager, origin } : undefined;
}

async function executableAt(path: string): Promise<string | undefined> {
  return await access(path, constants.X_OK).then(
    () => path,
    () => undefined,
  );
}
