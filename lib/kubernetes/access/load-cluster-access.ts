import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { raceAbort } from '#lib/time/abort-signal.ts';
import {
  ClusterAccess,
  type ClusterAccessEnvironment,
  type ClusterCredentials,
  type ClusterSource,
  loadCredentialFile,
} from './cluster-access.ts';

interface ClusterAccessOptions extends ClusterAccessEnvironment {
  /** A kubeconfig file; its current context is used. */
  readonly kubeconfig?: string | undefined;
  /** `KUBERNETES_SERVICE_HOST` and `_PORT`; used without a kubeconfig. */
  readonly serviceHost?: string | undefined;
  readonly servicePort?: string | undefined;
  readonly serviceAccountDirectory?: string | undefined;
  /** The variables that an exec plugin of the kubeconfig inherits; by default none. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
}

/**
 * Opens access to the API server: by the kubeconfig if one is given, else as a pod does.
 *
 * @throws with the file, the context and the cause
 */
export async function loadClusterAccess(options: ClusterAccessOptions): Promise<ClusterAccess> {
  const { kubeconfig, serviceHost, servicePort, serviceAccountDirectory, clock, environment = {} } = options;
  if (kubeconfig) {
    // A pod with a service account does not need this module.
    const { kubeconfigSource } = await import('./kubeconfig-source.ts');
    return await ClusterAccess.open(await kubeconfigSource(kubeconfig, { clock, environment }), options);
  }
  if (!serviceHost || !servicePort) {
    throw new Error(
      'Cannot find API server: no kubeconfig, and KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set',
    );
  }
  const source = inClusterSource({ serviceHost, servicePort, serviceAccountDirectory });
  return await ClusterAccess.open(source, options);
}

/** Where the kubelet mounts a pod's service account. */
const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Environment of a pod. */
interface InClusterEnvironment {
  /** `KUBERNETES_SERVICE_HOST`: a name or an address, IPv6 without brackets. */
  readonly serviceHost: string;
  /** `KUBERNETES_SERVICE_PORT`. */
  readonly servicePort: string;
  /** By default {@link SERVICE_ACCOUNT_DIRECTORY}. */
  readonly serviceAccountDirectory?: string | undefined;
}

/** Accesses the API server as a pod's service account: the mounted token and authorities, read again as they rotate. */
function inClusterSource(environment: InClusterEnvironment): ClusterSource {
  const { serviceHost, servicePort, serviceAccountDirectory = SERVICE_ACCOUNT_DIRECTORY } = environment;
  const host = isIPv6(serviceHost) ? `[${serviceHost}]` : serviceHost;
  let loading: Promise<ClusterCredentials> | undefined;
  return {
    server: new URL(`https://${host}:${servicePort}`),
    proxy: undefined,
    load(signal) {
      // At most one read at a time: each read of a volume that hangs blocks one of the few threads for files and names.
      loading ??= loadServiceAccount(serviceAccountDirectory).finally(() => {
        loading = undefined;
      });
      return raceAbort(loading, signal);
    },
  };
}

/** The namespace of the pod's service account; `undefined` where none is mounted, as outside a cluster. */
export async function readOwnNamespace(directory = SERVICE_ACCOUNT_DIRECTORY): Promise<string | undefined> {
  const text = await readFile(join(directory, 'namespace'), 'utf8').catch(() => '');
  return text.trim() || undefined;
}

async function loadServiceAccount(directory: string): Promise<ClusterCredentials> {
  const [ca, token] = await Promise.all([
    readText(join(directory, 'ca.crt'), 'authorities'),
    readText(join(directory, 'token'), 'token'),
  ]);
  return {
    tls: { ca, cert: undefined, key: undefined, servername: undefined, rejectUnauthorized: true },
    authorization: `Bearer ${token.trim()}`,
  };
}

async function readText(path: string, what: string): Promise<string> {
  try {
    return await loadCredentialFile(path);
  } catch (error) {
    throw new Error(`Cannot read the service account's ${what} from ${path}`, { cause: error });
  }
}
