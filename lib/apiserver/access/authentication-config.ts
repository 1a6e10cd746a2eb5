import * as z from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type CaBundle, parseCaBundle } from './certificate-chain.ts';

/** Configuration of delegated authentication at one moment; replaced as a whole when it changes. */
export interface AuthenticationConfig {
  /** Authorities that sign users' certificates; `undefined` while there are none. */
  readonly clientAuthorities: CaBundle | undefined;
  readonly frontProxy: FrontProxyConfig | undefined;
}

/** The proxy in front of this server that names the user in headers. */
export interface FrontProxyConfig {
  /** Authorities that sign its certificate. */
  readonly authorities: CaBundle;
  /** Common names that its certificate may have; empty for any. */
  readonly allowedNames: readonly string[];
  readonly headers: FrontProxyHeaders;
}

/** Names of headers, in any case. Where several names are given, the first with a value counts. */
export interface FrontProxyHeaders {
  readonly username: readonly string[];
  /** Empty to ignore UIDs. */
  readonly uid: readonly string[];
  /** The values of all of them count. */
  readonly group: readonly string[];
  /** Prefixes; the rest of a header's name is the key. */
  readonly extraPrefix: readonly string[];
}

interface ClusterAuthenticationConfigOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether to start if the API server forbids reading the config map. */
  readonly isFailureTolerated: boolean;
}

/** The config map in which the API server publishes the configuration of authentication for aggregated servers. */
const CONFIG_MAP = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
const COLLECTION = `/api/v1/namespaces/${CONFIG_MAP.namespace}/configmaps`;

/** Bounds how long the first response delays the start: serving early matters more than recognizing every caller. */
const FIRST_LOOKUP_TIMEOUT_MS = 3_000;

/**
 * Watches the cluster's configuration of authentication. What is missing or cannot be read, or the whole config map
 * when it is deleted, leaves the previous configuration in force.
 */
export class ClusterAuthenticationConfig implements AsyncDisposable {
  readonly #logger: Logger;
  readonly #cache: Informer<ConfigMapData>;
  #clientAuthorities: CaBundle | undefined;
  #frontProxy: FrontProxyConfig | undefined;
  #complaint = '';

  private constructor({ client, clock, logger }: ClusterAuthenticationConfigOptions) {
    this.#logger = logger;
    this.#cache = new Informer<ConfigMapData>({
      client,
      clock,
      logger,
      collection: { path: COLLECTION, fieldSelector: `metadata.name=${CONFIG_MAP.name}` },
      transform: dataOf,
    });
    this.#cache.onChange(({ current }) => {
      if (current) this.#apply(current);
      else this.#complain('the ConfigMap was deleted');
    });
  }

  /**
   * Requests the config map once and then watches it, whether or not the API server responds.
   *
   * @throws when the API server forbids reading it, unless that is tolerated
   */
  static async start(options: ClusterAuthenticationConfigOptions): Promise<ClusterAuthenticationConfig> {
    const config = new ClusterAuthenticationConfig(options);
    await config.#lookUp(options);
    config.#cache.start();
    return config;
  }

  get clientAuthorities(): CaBundle | undefined {
    return this.#clientAuthorities;
  }

  get frontProxy(): FrontProxyConfig | undefined {
    return this.#frontProxy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cache[Symbol.asyncDispose]();
  }

  async #lookUp({ client, isFailureTolerated }: ClusterAuthenticationConfigOptions): Promise<void> {
    try {
      const path = `${COLLECTION}/${CONFIG_MAP.name}`;
      this.#apply(dataOf(await client.getJson(path, { timeoutMs: FIRST_LOOKUP_TIMEOUT_MS })));
    } catch (error) {
      const isRefused = error instanceof ApiError && (error.statusCode === 401 || error.statusCode === 403);
      if (isRefused && !isFailureTolerated) {
        throw new Error(
          'Cannot read client CA configuration; grant Role extension-apiserver-authentication-reader in namespace kube-system, or set --authentication-tolerate-lookup-failure',
          { cause: error },
        );
      }
      this.#complain(describeError(error));
    }
  }

  #apply(data: ConfigMapData): void {
    const errors: string[] = [];
    const attempt = (read: () => void) => {
      try {
        read();
      } catch (error) {
        errors.push(describeError(error));
      }
    };
    attempt(() => {
      this.#clientAuthorities = parseClientAuthorities(data);
    });
    attempt(() => {
      this.#frontProxy = parseRequestHeaderConfig(data);
    });
    if (errors.length > 0) this.#complain(errors.join('; '));
    else this.#complaint = '';
  }

  /** Logs once for each reason in a row. */
  #complain(reason: string): void {
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    const { namespace, name } = CONFIG_MAP;
    this.#logger.warning('Cannot refresh client CA configuration; keeping the previous one', {
      configMap: `${namespace}/${name}`,
      reason,
    });
  }
}

/** Values of the config map by key; the same object until one of them changes. */
type ConfigMapData = Readonly<Record<string, string>>;

/** Returns the data of a ConfigMap object. */
export function dataOf(configMap: unknown): ConfigMapData {
  const data = propertyOf(configMap, 'data');
  if (typeof data !== 'object' || data === null) return {};
  return Object.fromEntries(Object.entries(data).filter(([, text]) => typeof text === 'string'));
}

/**
 * Reads the authorities that sign users' certificates.
 *
 * @throws when there are none, or they cannot be read
 */
export function parseClientAuthorities(data: ConfigMapData): CaBundle {
  return parseCaBundle(textAt(data, 'client-ca-file'));
}

/**
 * Reads the configuration of the front proxy.
 *
 * @returns `undefined` when the cluster has none
 * @throws when it cannot be read
 */
export function parseRequestHeaderConfig(data: ConfigMapData): FrontProxyConfig | undefined {
  const username = namesAt(data, 'requestheader-username-headers');
  const authorities = textAt(data, 'requestheader-client-ca-file');
  if (username.length === 0 && authorities === '') return undefined;
  return {
    authorities: parseCaBundle(authorities),
    allowedNames: namesAt(data, 'requestheader-allowed-names'),
    headers: {
      username,
      uid: namesAt(data, 'requestheader-uid-headers'),
      group: namesAt(data, 'requestheader-group-headers'),
      extraPrefix: namesAt(data, 'requestheader-extra-headers-prefix'),
    },
  };
}

const NAMES = z.array(z.string());

function namesAt(data: ConfigMapData, key: string): readonly string[] {
  const text = textAt(data, key);
  if (text === '') return [];
  try {
    return NAMES.parse(JSON.parse(text)).map((name) => name.trim());
  } catch (cause) {
    throw new Error(`Cannot read ${key}: not a JSON array of strings`, { cause });
  }
}

function textAt(data: ConfigMapData, key: string): string {
  return getOwn(data, key) ?? '';
}
