import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ScaledJob } from './scaled-job.ts';
import type { ScaledObject } from './scaled-object.ts';

interface KeyReference {
  readonly parameter: string;
  readonly name: string;
  readonly key: string;
}

/** `keda.sh/v1alpha1` TriggerAuthentication and ClusterTriggerAuthentication. */
export interface TriggerAuthentication extends KubernetesObject {
  /** Why the spec is not cached and the object cannot be used; absent if it is cached. */
  readonly omitted?: string;
  readonly spec?: {
    readonly podIdentity?: {
      readonly provider: string;
      readonly identityId?: string;
      readonly identityTenantId?: string;
      readonly identityAuthorityHost?: string;
      readonly roleArn?: string;
      readonly externalID?: string;
      readonly identityOwner?: string;
    };
    readonly secretTargetRef?: readonly KeyReference[];
    readonly configMapTargetRef?: readonly KeyReference[];
    readonly env?: readonly {
      readonly parameter: string;
      readonly name: string;
      readonly containerName?: string;
    }[];
    readonly filePath?: string;
    readonly boundServiceAccountToken?: readonly {
      readonly parameter: string;
      readonly serviceAccountName: string;
    }[];
    readonly oauth2?: { readonly type?: string; readonly clientId?: string; readonly tokenUrl?: string };
    readonly hashiCorpVault?: object;
    readonly azureKeyVault?: object;
    readonly gcpSecretManager?: object;
    readonly awsSecretManager?: object;
  };
  readonly status?: { readonly scaledobjects?: string; readonly scaledjobs?: string };
}

/** The namespaced kind first. */
export const AUTHENTICATION_KINDS = ['TriggerAuthentication', 'ClusterTriggerAuthentication'] as const;

/** `KIND KEY` of each authentication that an object refers to, without duplicates. */
export function authenticationNames({ metadata, spec }: ScaledObject | ScaledJob): readonly string[] {
  const [namespaced, clusterWide] = AUTHENTICATION_KINDS;
  const names = spec.triggers.flatMap(({ authenticationRef }) => {
    if (!authenticationRef) return [];
    const { name, kind } = authenticationRef;
    return `${kind || namespaced} ${kind === clusterWide ? name : `${metadata.namespace}/${name}`}`;
  });
  return [...new Set(names)];
}
