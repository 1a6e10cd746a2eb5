import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError, isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { type ApiResource, objectPath } from '#lib/kubernetes/client/api-resource.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { parseJson } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { TriggerAuthentication } from '../../api/trigger-authentication.ts';
import type { ScaledObjectsOptions } from '../../scaled-objects-options.ts';
import { LengthBudget } from './length-budget.ts';
import type { AuthenticationReader } from './resolve-authentication.ts';

const SECRETS: ApiResource = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
};
const CONFIG_MAPS: ApiResource = { ...SECRETS, kind: 'ConfigMap', plural: 'configmaps' };
const SERVICE_ACCOUNTS: ApiResource = { ...SECRETS, kind: 'ServiceAccount', plural: 'serviceaccounts' };

const DATA = z.object({ data: z.record(z.string(), z.string()).nullish() });
const TOKEN = z.object({ status: z.object({ token: z.string() }) });
const REVIEW = z.object({ status: z.object({ authenticated: z.boolean().optional() }) });
const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';
const FILE = z.record(z.string(), z.string());

interface ClusterReaderOptions
  extends Pick<
    ScaledObjectsOptions,
    'clusterNamespace' | 'restrictsSecrets' | 'fileRoot' | 'tokenLifetimeS' | 'tokenAudience'
  > {
  /** Must allow POST in every replica, for token requests. */
  readonly client: ApiClient;
  readonly authentication: (kind: string, key: string) => TriggerAuthentication | undefined;
}

const MAX_FILE_BYTES = 1_048_576;

/** A reader for all objects; {@link boundedReader} limits what one object reads. */
export function clusterReader(options: ClusterReaderOptions): AuthenticationReader {
  const { client, clusterNamespace, restrictsSecrets, fileRoot } = options;
  const dataOf = async (resource: ApiResource, namespace: string, name: string, signal: AbortSignal) => {
    try {
      const at = objectPath(resource, { namespace, name });
      const read = await fetchReference(() => client.getJson(at, { signal }), signal);
      return readAs(DATA, 'it', read).data ?? {};
    } catch (error) {
      if (isNotFound(error)) return undefined;
      const { kind, plural } = resource;
      const cannot = `Cannot read ${kind} ${namespace}/${name}`;
      throw explainForbidden(error, cannot, { verb: 'get', resource: plural, namespace, name });
    }
  };
  const secretData = async (namespace: string, name: string, signal: AbortSignal) => {
    if (restrictsSecrets && namespace !== clusterNamespace) return undefined;
    const data = await dataOf(SECRETS, namespace, name, signal);
    return data && Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decode(value)]));
  };
  const configMapData = (namespace: string, name: string, signal: AbortSignal) =>
    dataOf(CONFIG_MAPS, namespace, name, signal);
  return {
    ...{ clusterNamespace, restrictsSecrets },
    authentication: (kind, namespace, name) =>
      options.authentication(kind, kind === 'ClusterTriggerAuthentication' ? name : `${namespace}/${name}`),
    ...{ secretData, configMapData },
    serviceAccountToken: (namespace, name, signal) =>
      requestToken({ namespace, name }, { ...options, signal }),
    async file(given) {
      if (fileRoot === undefined)
        throw new Error('filePath requires the flag --filepath-auth-root-path, which is not set');
      if (path.isAbsolute(given) || given.split('/').includes('..'))
        throw new Error(`filePath "${given}" must be relative, without ..`);
      const text = await readFile(path.join(fileRoot, given), 'utf8');
      if (text.length > MAX_FILE_BYTES)
        throw new Error(`filePath "${given}" is longer than ${MAX_FILE_BYTES} bytes`);
      return readAs(FILE, `filePath "${given}"`, parseJson(text));
    },
  };
}

/**
 * Requests a service account token that the API server does not accept, because it is sent to servers that tenants choose.
 *
 * @throws if no audience is set, or if the API server accepts the token
 */
async function requestToken(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  {
    client,
    tokenLifetimeS: expirationSeconds,
    tokenAudience: audience,
    signal,
  }: Pick<ClusterReaderOptions, 'client' | 'tokenLifetimeS' | 'tokenAudience'> & {
    readonly signal: AbortSignal;
  },
): Promise<string> {
  const cannot = `Cannot request a token of ServiceAccount ${namespace}/${name}`;
  if (audience === undefined) throw new Error(`${cannot}: --bound-service-account-token-audience is not set`);
  const post = (at: string, body: object) =>
    fetchReference(() => client.requestJson({ method: 'POST', path: at, body }, { signal }), signal);
  const at = objectPath(SERVICE_ACCOUNTS, { namespace, name }, 'token');
  const spec = { audiences: [audience], expirationSeconds };
  const requested = await post(at, { ...AUTHENTICATION, kind: 'TokenRequest', spec }).catch(
    (error: unknown) => {
      const resource = 'serviceaccounts/token';
      throw explainForbidden(error, cannot, { verb: 'create', resource, namespace, name });
    },
  );
  const { token } = readAs(TOKEN, 'the response', requested).status;
  const review = await post(TOKEN_REVIEWS, { ...AUTHENTICATION, kind: 'TokenReview', spec: { token } });
  if (readAs(REVIEW, 'the TokenReview', review).status.authenticated === true)
    throw new Error(
      `Discarded the token of ServiceAccount ${namespace}/${name}: the API server accepts its audience "${audience}", so a server that receives the token could act as this account. Set --bound-service-account-token-audience to an audience that the API server does not accept`,
    );
  return token;
}

const AUTHENTICATION = { apiVersion: 'authentication.k8s.io/v1' };
const FORBIDDEN = 403;

/** Converts a 403 into an error that names the missing permission; returns other errors unchanged. */
function explainForbidden(
  error: unknown,
  cannot: string,
  { verb, resource, namespace, name }: Readonly<Record<'verb' | 'resource' | 'namespace' | 'name', string>>,
): unknown {
  if (!(error instanceof ApiError) || error.statusCode !== FORBIDDEN) return error;
  const grant = `grant it with a Role in namespace "${namespace}" that allows ${verb} on ${resource} "${name}"`;
  return new Error(`${cannot}: forbidden; ${grant}`);
}

function decode(value: string): string {
  return Buffer.from(value, 'base64').toString('utf8');
}

/** Each is a request, and all objects share one rate limit. */
const MAX_REFERENCES = 100;

type Read<T> = (namespace: string, name: string, signal: AbortSignal) => Promise<T>;

/** Keys and values are in memory while an object is prepared. */
const MAX_LENGTH = 8 * 1024 * 1024;
const TOO_LONG = `the triggers refer to Secrets and ConfigMaps that are together longer than ${MAX_LENGTH} characters`;

/**
 * A reader for the triggers of one object. Reads each Secret, ConfigMap and token once, and at most 100 of them with 8 MiB
 * together.
 */
export function boundedReader(reader: AuthenticationReader): AuthenticationReader {
  const reads = new Map<string, Promise<unknown>>();
  const budget = new LengthBudget(MAX_LENGTH, TOO_LONG);
  const once =
    <T>(kind: string, read: Read<T>): Read<T> =>
    async (namespace, name, signal) => {
      const key = JSON.stringify([kind, namespace, name]);
      if (!reads.has(key) && reads.size === MAX_REFERENCES)
        throw new Error(
          `the triggers refer to more than ${MAX_REFERENCES} Secrets, ConfigMaps and service accounts`,
        );
      const reading = (reads.get(key) as Promise<T> | undefined) ?? read(namespace, name, signal);
      reads.set(key, reading);
      return await reading;
    };
  const onceWithin = (kind: string, read: AuthenticationReader['secretData']) =>
    once(kind, async (namespace, name, signal) => {
      budget.check(0);
      const data = await read(namespace, name, signal);
      budget.spendAll(data ?? {});
      return data;
    });
  return {
    ...reader,
    secretData: onceWithin('Secret', reader.secretData),
    configMapData: onceWithin('ConfigMap', reader.configMapData),
    serviceAccountToken: once('token', reader.serviceAccountToken),
  };
}

/** A reference of a trigger cannot be read at the moment; the trigger itself may be valid. */
export class UnreadReference extends Error {
  override readonly name = 'UnreadReference';
}

/** Codes below 500 that do not concern the requested object. */
const RETRYABLE_CODES = [401, 429];

/**
 * Reads a reference of a trigger from the API server.
 *
 * @throws {UnreadReference} if the API server does not respond or fails; its error for the object otherwise
 */
export async function fetchReference<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof ApiError && cause.statusCode < 500 && !RETRYABLE_CODES.includes(cause.statusCode))
      throw cause;
    throw new UnreadReference('Cannot read an object that a trigger refers to', { cause });
  }
}
