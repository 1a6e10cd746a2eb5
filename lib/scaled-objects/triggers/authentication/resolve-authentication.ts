import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { TriggerSpec } from '../../api/scaled-object.ts';
import type { TriggerAuthentication } from '../../api/trigger-authentication.ts';
import { LengthBudget } from './length-budget.ts';

type Data = Readonly<Record<string, string>>;

/** Reads authentications and the objects that they refer to. */
export interface AuthenticationReader {
  authentication(kind: string, namespace: string, name: string): TriggerAuthentication | undefined;
  /** Decoded values by key; `undefined` if the object does not exist or may not be read. */
  secretData(namespace: string, name: string, signal: AbortSignal): Promise<Data | undefined>;
  configMapData(namespace: string, name: string, signal: AbortSignal): Promise<Data | undefined>;
  serviceAccountToken(namespace: string, name: string, signal: AbortSignal): Promise<string>;
  /** The parameters in a file below the root directory. @throws if it cannot be read */
  file(path: string): Promise<Readonly<Record<string, string>>>;
  /** Namespace of the Secrets and ConfigMaps that ClusterTriggerAuthentications refer to. */
  readonly clusterNamespace: string;
  /** Whether only Secrets of `clusterNamespace` are read. */
  readonly restrictsSecrets?: boolean;
}

export interface AuthenticationContext {
  readonly namespace: string;
  /** The environment of a container of the target; by default of the configured container. */
  readonly environment: (containerName?: string) => Promise<Readonly<Record<string, string>>>;
  readonly signal: AbortSignal;
  /** Called with a message for each missing reference; its parameter is empty. */
  readonly onMissing?: (what: string) => void;
}

const UNSUPPORTED = [
  'oauth2',
  'hashiCorpVault',
  'azureKeyVault',
  'gcpSecretManager',
  'awsSecretManager',
] as const;
const MAX_LENGTH = 4 * 1024 * 1024;
const NAMESPACED = 'TriggerAuthentication';
const CLUSTER_WIDE = 'ClusterTriggerAuthentication';

/**
 * The parameters of a trigger's authentication. Later sources override earlier ones; missing values are empty.
 *
 * @param reader called for each parameter; must cache for one object
 * @throws an Error if the authentication does not exist, is not supported, or exceeds the size limit
 */
export async function resolveAuthentication(
  reference: TriggerSpec['authenticationRef'],
  reader: AuthenticationReader,
  { namespace, environment, signal, onMissing }: AuthenticationContext,
): Promise<Readonly<Record<string, string>>> {
  if (!reference) return {};
  const { name, kind: given } = reference;
  const kind = given || NAMESPACED;
  // Other versions of the definition do not validate the kind, and the cluster-wide kind reads Secrets of another namespace.
  if (kind !== NAMESPACED && kind !== CLUSTER_WIDE)
    throw new Error(
      `unknown trigger auth kind "${kind.slice(0, 100)}"; supported kinds are ${NAMESPACED} and ${CLUSTER_WIDE}`,
    );
  const { spec = {}, omitted } = found(reader.authentication(kind, namespace, name), kind, name);
  if (omitted !== undefined) throw new Error(`Cannot read ${kind} "${name}": ${omitted}`);
  const unsupported = unsupportedIn(spec);
  if (unsupported) throw new Error(`${kind} "${name}" uses ${unsupported}, which is not supported`);
  if (spec.filePath !== undefined) {
    if (kind === NAMESPACED)
      throw new Error(`${kind} "${name}" uses filePath, which only ClusterTriggerAuthentications support`);
    return await reader.file(spec.filePath);
  }
  const where = kind === NAMESPACED ? namespace : reader.clusterNamespace;
  const parameters = new Map<string, string>();
  const budget = new LengthBudget(
    MAX_LENGTH,
    `the values of ${kind} "${name}" exceed ${MAX_LENGTH} characters`,
  );
  const set = (parameter: string, value = '') => {
    budget.spend(parameter.length + value.length);
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
    isRestricted && object.startsWith('Secret ')
      ? `may not be read: --restrict-secret-access allows only Secrets of namespace ${reader.clusterNamespace}`
      : 'not found';
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
  /** Kind, namespace and name, for messages. */
  readonly object: string;
  readonly key: string;
}

/** The first unsupported source of an authentication, a cloud or vault; `undefined` if there is none. */
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

/** The first violation in the spec of an authentication; `undefined` if there is none. */
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
