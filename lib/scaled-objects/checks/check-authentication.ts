import type { TriggerAuthentication } from '../objects/trigger-authentication.ts';

type Spec = NonNullable<TriggerAuthentication['spec']>;

const CLIENT_CREDENTIALS = 'clientCredentials';

/** The rule that an authentication breaks by itself; `undefined` where it breaks none. */
export function brokenByAuthentication({ podIdentity, oauth2 }: Spec): string | undefined {
  return brokenByPodIdentity(podIdentity ?? { provider: 'none' }) ?? (oauth2 && brokenByOAuth2(oauth2));
}

function brokenByPodIdentity(identity: NonNullable<Spec['podIdentity']>): string | undefined {
  const { provider, identityId, identityTenantId, identityAuthorityHost } = identity;
  const { roleArn, externalID, identityOwner } = identity;
  if (provider === 'azure-workload') {
    if (identityId === '') return 'identityId of PodIdentity should not be empty';
    if (identityTenantId === '') return 'identityTenantId of PodIdentity should not be empty';
    if (identityAuthorityHost && !identityTenantId)
      return 'identityTenantId of PodIdentity must be set with identityAuthorityHost';
  }
  if (provider === 'aws') {
    if (roleArn && identityOwner === 'workload')
      return "roleArn of PodIdentity can't be set if KEDA isn't identityOwner";
    if (externalID && !roleArn) return 'externalID of PodIdentity needs roleArn';
  }
  return undefined;
}

function brokenByOAuth2({ type, clientId, tokenUrl }: NonNullable<Spec['oauth2']>): string | undefined {
  if (type !== CLIENT_CREDENTIALS) return `type of oauth2 must be ${CLIENT_CREDENTIALS}`;
  if (!clientId) return 'clientId of oauth2 is required';
  if (!tokenUrl) return 'tokenUrl of oauth2 is required';
  const url = URL.canParse(tokenUrl) ? new URL(tokenUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    return 'tokenUrl of oauth2 must be an http or https URL with a host';
  return undefined;
}
