import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError, isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { type ApiResource, objectPath } from '#lib/kubernetes/client/api-resource.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { parseJson } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { TriggerAuthentication } from '../../api/trigger-authentication.ts';
import type { EnvironmentReader } from './container-environment.ts';
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

/** What {@link clusterReader} works with. */
interface ClusterReaderOptions {
  /** One that lets every replica ask for tokens: a POST, though it changes nothing. */
  readonly client: ApiClient;
  readonly authentication: (kind: string, key: string) => TriggerAuthentication | undefined;
  /** Where what ClusterTriggerAuthentications refer to is. */
  readonly clusterNamespace: string;
  /** Secrets of other namespaces than that are not read. */
  readonly restrictsSecrets: boolean;
  /** Below this are files with parameters; `undefined` where there are none. */
  readonly fileRoot: string | undefined;
  readonly tokenLifetimeS: number;
  /** Whom tokens of service accounts are for, which is never the API server; `undefined` where none are requested. */
  readonly tokenAudience: string | undefined;
}

/** Reads Secrets, ConfigMaps and tokens one by one, by name. */
export type ClusterReader = AuthenticationReader & {
  environmentOf(namespace: string, signal: AbortSignal): EnvironmentReader;
};

const MAX_FILE_BYTES = 1_048_576;

/** A reader of what the triggers of all objects refer to; `readerOfOne` bounds what one object has read. */
export function clusterReader(options: ClusterReaderOptions): ClusterReader {
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
        throw new Error('filePath needs a directory of such files, and there is none');
      if (path.isAbsolute(given) || given.split('/').includes('..'))
        throw new Error(`filePath "${given}" must be relative, without ..`);
      const text = await readFile(path.join(fileRoot, given), 'utf8');
      if (text.length > MAX_FILE_BYTES)
        throw new Error(`filePath "${given}" is longer than ${MAX_FILE_BYTES} bytes`);
      return readAs(FILE, `filePath "${given}"`, parseJson(text));
    },
    environmentOf: (namespace, signal) => ({
      secretData: (name) => secretData(namespace, name, signal),
      configMapData: (name) => configMapData(namespace, name, signal),
    }),
  };
}

/**
 * Requests a token of a service account that is of no use at the API server: it is sent to servers that tenants name.
 *
 * @throws where no audience is set, or where the API server accepts the token itself
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
  if (audience === undefined)
    throw new Error(`${cannot}: no audience is set; --bound-service-account-token-audience sets it`);
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
  if (readAs(REVIEW, 'the review of it', review).status.authenticated === true)
    throw new Error(
      `${cannot}: the API server itself accepts the audience "${audience}" of --bound-service-account-token-audience`,
    );
  return token;
}

const AUTHENTICATION = { apiVersion: 'authentication.k8s.io/v1' };
const FORBIDDEN = 403;

/** Adds to a refusal for want of permission what grants it; any other error stays as it is. */
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

/** Each is a request, and all objects wait for the same rate. */
const MAX_REFERENCES = 100;

type Read<T> = (namespace: string, name: string, signal: AbortSignal) => Promise<T>;

/** Of their keys and values together: they are held while an object is prepared, though a trigger needs one key of each. */
const MAX_LENGTH = 8 * 1024 * 1024;

/**
 * Reads for the triggers of one object: each Secret, ConfigMap and token once, and of all no more than a hundred and 8 MiB,
 * however many triggers and containers refer to them.
 */
export function boundedReader(reader: ClusterReader): ClusterReader {
  const reads = new Map<string, Promise<unknown>>();
  let length = 0;
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
  const onceWithin = (kind: string, read: ClusterReader['secretData']) =>
    once(kind, async (namespace, name, signal) => {
      checkLength();
      const data = await read(namespace, name, signal);
      for (const [key, value] of Object.entries(data ?? {})) length += key.length + value.length;
      checkLength();
      return data;
    });
  function checkLength(): void {
    if (length <= MAX_LENGTH) return;
    throw new Error(
      `the triggers refer to Secrets and ConfigMaps that are together longer than ${MAX_LENGTH} characters`,
    );
  }
  const secretData = onceWithin('Secret', reader.secretData);
  const configMapData = onceWithin('ConfigMap', reader.configMapData);
  return {
    ...reader,
    ...{ secretData, configMapData },
    serviceAccountToken: once('token', reader.serviceAccountToken),
    environmentOf: (namespace, signal) => ({
      secretData: (name) => secretData(namespace, name, signal),
      configMapData: (name) => configMapData(namespace, name, signal),
    }),
  };
}

/** What a trigger refers to cannot be read just now, which says nothing of the trigger. */
export class UnreadReference extends Error {
  override readonly name = 'UnreadReference';
}

/** Says that it does not know us, or that it is busy; all else below 500 is about what it was asked for. */
const RETRYABLE_CODES = [401, 429];

/**
 * Reads of the API server what a trigger refers to.
 *
 * @throws {UnreadReference} where the API server does not respond, or fails; what it says of the object as it is
 */
export async function fetchReference<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof ApiError && cause.statusCode < 500 && !RETRYABLE_CODES.includes(cause.statusCode))
      throw cause;
    throw new UnreadReference('Cannot read what a trigger refers to', { cause });
  }
}
