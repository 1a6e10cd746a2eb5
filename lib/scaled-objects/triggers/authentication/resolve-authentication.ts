import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { TriggerSpec } from '../../api/scaled-object.ts';
import type { TriggerAuthentication } from '../../api/trigger-authentication.ts';

type Data = Readonly<Record<string, string>>;

/** Where authentications and what they refer to are read. */
export interface AuthenticationReader {
  authentication(kind: string, namespace: string, name: string): TriggerAuthentication | undefined;
  /** The texts under their keys; `undefined` where there is no such object, or it must not be read. */
  secretData(namespace: string, name: string, signal: AbortSignal): Promise<Data | undefined>;
  configMapData(namespace: string, name: string, signal: AbortSignal): Promise<Data | undefined>;
  serviceAccountToken(namespace: string, name: string, signal: AbortSignal): Promise<string>;
  /** The parameters in a file below the directory of such files. @throws where it cannot be read */
  file(path: string): Promise<Readonly<Record<string, string>>>;
  /** Where what ClusterTriggerAuthentications refer to is. */
  readonly clusterNamespace: string;
  /** Whether Secrets of other namespaces than that are not read. */
  readonly restrictsSecrets?: boolean;
}

/** Whose trigger it is. */
export interface AuthenticationContext {
  readonly namespace: string;
  /** The environment of a container of the target; of the usual one where none is named. */
  readonly environment: (containerName?: string) => Promise<Readonly<Record<string, string>>>;
  readonly signal: AbortSignal;
  /** Told by name what an authentication refers to that is not there, so that its parameter is empty. */
  readonly onMissing?: (what: string) => void;
}

const UNSUPPORTED = [
  'oauth2',
  'hashiCorpVault',
  'azureKeyVault',
  'gcpSecretManager',
  'awsSecretManager',
] as const;
/** Of all names and values. */
const MAX_LENGTH = 4 * 1024 * 1024;
const NAMESPACED = 'TriggerAuthentication';
const CLUSTER_WIDE = 'ClusterTriggerAuthentication';

/**
 * The parameters that a trigger's authentication gives, later sources over earlier ones; what a source does not have is
 * empty.
 *
 * @param reader for the triggers of one object: every parameter asks it for its object
 * @throws an Error where the authentication is not there, of a kind that is not supported, or larger than it may be
 */
export async function resolveAuthentication(
  reference: TriggerSpec['authenticationRef'],
  reader: AuthenticationReader,
  { namespace, environment, signal, onMissing }: AuthenticationContext,
): Promise<Readonly<Record<string, string>>> {
  if (!reference) return {};
  const { name, kind: given } = reference;
  const kind = given || NAMESPACED;
  // Definitions of others let anything through, and what is not of the namespace reads in that of the cluster's Secrets.
  if (kind !== NAMESPACED && kind !== CLUSTER_WIDE)
    throw new Error(
      `unknown trigger auth kind "${kind.slice(0, 100)}", there are ${NAMESPACED} and ${CLUSTER_WIDE}`,
    );
  const { spec = {}, omitted } = found(reader.authentication(kind, namespace, name), kind, name);
  if (omitted !== undefined) throw new Error(`${kind} "${name}" cannot be read: ${omitted}`);
  const unsupported = unsupportedIn(spec);
  if (unsupported) throw new Error(`${kind} "${name}" uses ${unsupported}, which is not supported`);
  if (spec.filePath !== undefined) {
    if (kind === NAMESPACED)
      throw new Error(`${kind} "${name}" uses filePath, which only ClusterTriggerAuthentications may`);
    return await reader.file(spec.filePath);
  }
  const where = kind === NAMESPACED ? namespace : reader.clusterNamespace;
  const parameters = new Map<string, string>();
  let length = 0;
  const set = (parameter: string, value = '') => {
    length += parameter.length + value.length;
    if (!(length <= MAX_LENGTH))
      throw new Error(`what ${kind} "${name}" refers to is longer than ${MAX_LENGTH} characters`);
    parameters.set(parameter, value);
  };
  for (const { parameter, name: variable, containerName } of spec.env ?? [])
    set(parameter, getOwn(await environment(containerName), variable));
  const setOf = (parameter: string, data: Data | undefined, { object, key }: Referred) => {
    const value = getOwn(data, key);
    if (value === undefined)
      onMissing?.(`${kind} "${name}": ${object} ${data ? `has no key "${key}"` : unread(object)}`);
    set(parameter, value);
  };
  const isRestricted = reader.restrictsSecrets === true && where !== reader.clusterNamespace;
  const unread = (object: string) =>
    isRestricted && object.startsWith('Secret ') ? 'must not be read from that namespace' : 'not found';
  for (const { parameter, name: map, key } of spec.configMapTargetRef ?? []) {
    const data = await reader.configMapData(where, map, signal);
    setOf(parameter, data, { object: `ConfigMap ${where}/${map}`, key });
  }
  for (const { parameter, name: secret, key } of spec.secretTargetRef ?? []) {
    const data = await reader.secretData(where, secret, signal);
    setOf(parameter, data, { object: `Secret ${where}/${secret}`, key });
  }
  for (const { parameter, serviceAccountName } of spec.boundServiceAccountToken ?? [])
    set(parameter, await reader.serviceAccountToken(where, serviceAccountName, signal));
  return Object.fromEntries(parameters);
}

interface Referred {
  /** Kind, namespace and name, as messages have them. */
  readonly object: string;
  readonly key: string;
}

/** What an authentication uses that needs a cloud or a vault; `undefined` where it uses nothing of that kind. */
export function unsupportedIn(spec: NonNullable<TriggerAuthentication['spec']>): string | undefined {
  const source = UNSUPPORTED.find((one) => spec[one] !== undefined);
  if (source) return source;
  const provider = spec.podIdentity?.provider ?? 'none';
  return provider === 'none' || provider === '' ? undefined : `podIdentity ${provider}`;
}

function found(
  authentication: TriggerAuthentication | undefined,
  kind: string,
  name: string,
): TriggerAuthentication {
  if (authentication) return authentication;
  throw new Error(`${kind} "${name}" not found`);
}

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
