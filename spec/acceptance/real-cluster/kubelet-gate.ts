import type { Credentials, UserInfo } from '#simulator/access/authenticator.ts';
import type { ResourceRequest } from '#simulator/access/rbac.ts';
import type { KubeletGate } from '#simulator/kubelet/kubelet-access.ts';
import type { ControlPlaneClient } from '../control-plane/control-plane-client.ts';

/** One authorization decision of the API server for a kubelet. */
export interface KubeletAccess {
  readonly username: string;
  readonly verb: string;
  /** Subresource of the node, such as `stats`. */
  readonly subresource: string;
  readonly isAllowed: boolean;
}

/**
 * Authorizes requests to simulated kubelets as a real kubelet does: by TokenReview and SubjectAccessReview on a real
 * API server, under a node's identity, for each request.
 */
export class ReviewingGate implements KubeletGate {
  readonly #client: ControlPlaneClient;
  readonly #onDecided: (access: KubeletAccess) => void;

  constructor(client: ControlPlaneClient, onDecided: (access: KubeletAccess) => void) {
    this.#client = client;
    this.#onDecided = onDecided;
  }

  async authenticate({ bearerToken }: Credentials): Promise<UserInfo | undefined> {
    if (bearerToken === undefined) return undefined;
    const { status } = await this.#client.create('/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: bearerToken },
    });
    const { authenticated, user } = status as { readonly authenticated?: boolean; readonly user: UserInfo };
    return authenticated ? user : undefined;
  }

  async isAllowed({ username, groups }: UserInfo, request: ResourceRequest): Promise<boolean> {
    const { verb, resource, subresource = '', name = '' } = request;
    const { status } = await this.#client.create('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: username,
        groups,
        resourceAttributes: { verb, resource, subresource, name, version: 'v1' },
      },
    });
    const isAllowed = (status as { readonly allowed: boolean }).allowed;
    this.#onDecided({ username, verb, subresource, isAllowed });
    return isAllowed;
  }
}
