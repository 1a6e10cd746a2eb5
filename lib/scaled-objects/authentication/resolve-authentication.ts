import type { TriggerSpec } from '../objects/scaled-object.ts';
import type { TriggerAuthentication } from '../objects/trigger-authentication.ts';

/** Where authentications and what they refer to are read. */
export interface AuthenticationReader {
  authentication(kind: string, namespace: string, name: string): TriggerAuthentication | undefined;
  /** The text under a key; `undefined` where there is no such object or key, or it must not be read. */
  secret(namespace: string, name: string, key: string, signal: AbortSignal): Promise<string | undefined>;
  configMap(namespace: string, name: string, key: string, signal: AbortSignal): Promise<string | undefined>;
  serviceAccountToken(namespace: string, name: string, signal: AbortSignal): Promise<string>;
  /** The parameters in a file below the directory of such files. @throws where it cannot be read */
  file(path: string): Promise<Readonly<Record<string, string>>>;
  /** Where what ClusterTriggerAuthentications refer to is. */
  readonly clusterNamespace: string;
}

/** Whose trigger it is. */
export interface AuthenticationContext {
  readonly namespace: string;
  /** The environment of a container of the target; of the usual one where none is named. */
  readonly environment: (containerName?: string) => Promise<Readonly<Record<string, string>>>;
  readonly signal: AbortSignal;
}

const UNSUPPORTED = [
  'oauth2',
  'hashiCorpVault',
  'azureKeyVault',
  'gcpSecretManager',
  'awsSecretManager',
] as const;
const NAMESPACED = 'TriggerAuthentication';
const CLUSTER_WIDE = 'ClusterTriggerAuthentication';

/**
 * The parameters that a trigger's authentication gives, later sources over earlier ones; what a source does not have is
 * empty.
 *
 * @throws an Error where the authentication is not there, or of a kind that is not supported
 */
export async function resolveAuthentication(
  reference: TriggerSpec['authenticationRef'],
  reader: AuthenticationReader,
  { namespace, environment, signal }: AuthenticationContext,
): Promise<Readonly<Record<string, string>>> {
  if (!reference) return {};
  const { name, kind: given } = reference;
  const kind = given || NAMESPACED;
  // Definitions of others let anything through, and what is not of the namespace reads in that of the cluster's Secrets.
  if (kind !== NAMESPACED && kind !== CLUSTER_WIDE)
    throw new Error(
      `unknown trigger auth kind "${kind.slice(0, 100)}", there are ${NAMESPACED} and ${CLUSTER_WIDE}`,
    );
  const { spec = {} } = found(reader.authentication(kind, namespace, name), kind, name);
  const unsupported = unsupportedIn(spec);
  if (unsupported) throw new Error(`${kind} "${name}" uses ${unsupported}, which is not supported`);
  if (spec.filePath !== undefined) {
    if (kind === NAMESPACED)
      throw new Error(`${kind} "${name}" uses filePath, which only ClusterTriggerAuthentications may`);
    return await reader.file(spec.filePath);
  }
  const where = kind === NAMESPACED ? namespace : reader.clusterNamespace;
  const parameters = new Map<string, string>();
  for (const { parameter, name: variable, containerName } of spec.env ?? [])
    parameters.set(parameter, (await environment(containerName))[variable] ?? '');
  for (const { parameter, name: map, key } of spec.configMapTargetRef ?? [])
    parameters.set(parameter, (await reader.configMap(where, map, key, signal)) ?? '');
  for (const { parameter, name: secret, key } of spec.secretTargetRef ?? [])
    parameters.set(parameter, (await reader.secret(where, secret, key, signal)) ?? '');
  for (const { parameter, serviceAccountName } of spec.boundServiceAccountToken ?? [])
    parameters.set(parameter, await reader.serviceAccountToken(where, serviceAccountName, signal));
  return Object.fromEntries(parameters);
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
