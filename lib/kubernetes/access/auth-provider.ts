import type { RequestOptions } from 'node:https';
import { type Cluster, KubeConfig, type User } from '@kubernetes/client-node';
import type { CredentialMaker } from './cluster-access.ts';
import type { CurrentContext } from './kubeconfig.ts';

/**
 * Credentials of a user with an `auth-provider`, such as `oidc`, made by the official client, which caches them while
 * they are valid.
 */
export function authProvider(context: CurrentContext): CredentialMaker {
  const user = { name: context.userName, authProvider: context.user['auth-provider'] } as User;
  const load = () => {
    const loaded = new KubeConfig();
    loaded.loadFromClusterAndUser(clusterOf(context), user);
    return loaded;
  };
  let kubeconfig = load();
  return async (_signal, areRefused) => {
    if (areRefused) kubeconfig = load();
    const options: RequestOptions = {};
    await kubeconfig.applyToHTTPSOptions(options);
    const { cert, key, headers } = options;
    const header = headers && 'Authorization' in headers ? headers.Authorization : undefined;
    return {
      ...(cert && { cert: String(cert) }),
      ...(key && { key: String(key) }),
      authorization: typeof header === 'string' ? header.trim() : undefined,
    };
  };
}

/** The library refuses plain HTTP to a server whose certificate would be verified; kubectl does not. */
function clusterOf({ clusterName, cluster, server }: CurrentContext): Cluster {
  const skipTLSVerify = cluster['insecure-skip-tls-verify'] === true || server.protocol === 'http:';
  return { name: clusterName, server: cluster.server, skipTLSVerify };
}
