import { ClusterAccess, type ClusterAccessEnvironment } from './cluster-access.ts';
import { inClusterSource } from './in-cluster-source.ts';

/** Where {@link loadClusterAccess} looks for an API server. */
export interface ClusterAccessOptions extends ClusterAccessEnvironment {
  /** A kubeconfig file; its current context is used. */
  readonly kubeconfig?: string | undefined;
  /** `KUBERNETES_SERVICE_HOST` and `_PORT`; count when there is no kubeconfig. */
  readonly serviceHost?: string | undefined;
  readonly servicePort?: string | undefined;
  readonly serviceAccountDirectory?: string | undefined;
}

/**
 * Finds out how to reach the API server: by the kubeconfig where one is given, else as a pod does.
 *
 * @throws naming the file, the context and what is wrong with them
 */
export async function loadClusterAccess(options: ClusterAccessOptions): Promise<ClusterAccess> {
  const { kubeconfig, serviceHost, servicePort, serviceAccountDirectory } = options;
  if (kubeconfig) {
    // What reads it is of no use to a pod with a service account.
    const { kubeconfigSource } = await import('./kubeconfig-source.ts');
    return await ClusterAccess.open(await kubeconfigSource(kubeconfig), options);
  }
  if (!serviceHost || !servicePort) {
    throw new Error(
      'Cannot find an API server: no kubeconfig is given, and KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set',
    );
  }
  const source = inClusterSource({ serviceHost, servicePort, serviceAccountDirectory });
  return await ClusterAccess.open(source, options);
}
