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

/** Whom to believe, as of one moment; replaced as a whole when it changes. */
export interface AuthenticationConfig {
  /** Who signs certificates that users identify themselves with; `undefined` while nobody is known to. */
  readonly clientAuthorities: CaBundle | undefined;
  readonly frontProxy: FrontProxyConfig | undefined;
}

/** The proxy in front of this server that tells in headers on whose behalf it asks. */
export interface FrontProxyConfig {
  /** Who signs its certificate. */
  readonly authorities: CaBundle;
  /** What its certificate may be called; none for any name. */
  readonly allowedNames: readonly string[];
  readonly headers: FrontProxyHeaders;
}

/** Names of headers, in any letters; of those with several names, the first that has a value counts. */
export interface FrontProxyHeaders {
  readonly username: readonly string[];
  /** None where uids are not to be believed. */
  readonly uid: readonly string[];
  /** All of them count. */
  readonly group: readonly string[];
  /** Beginnings; the rest of a name is a key. */
  readonly extraPrefix: readonly string[];
}

/** What following the cluster's configuration needs from outside. */
interface ClusterAuthenticationConfigOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether to start though the API server refuses to tell. */
  readonly isFailureTolerated: boolean;
}

/** The config map in which the API server tells aggregated servers whom to believe. */
const CONFIG_MAP = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
const COLLECTION = `/api/v1/namespaces/${CONFIG_MAP.namespace}/configmaps`;

/** The start waits this long for the first response: serving goes before knowing everybody. */
const FIRST_LOOKUP_TIMEOUT_MS = 3_000;

/**
 * Follows what the cluster says of whom to believe. What is missing or cannot be read, or the whole config map when it
 * is deleted, leaves what was known before.
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
      else this.#complain('it was deleted');
    });
  }

  /**
   * Asks once, and goes on following, whether or not the API server is there to respond.
   *
   * @throws when it responds that it will not tell, unless that is tolerated
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
          'Cannot look up whom to believe; grant role extension-apiserver-authentication-reader of namespace ' +
            'kube-system, or set --authentication-tolerate-lookup-failure',
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
      this.#clientAuthorities = clientAuthoritiesIn(data);
    });
    attempt(() => {
      this.#frontProxy = frontProxyIn(data);
    });
    if (errors.length > 0) this.#complain(errors.join('; '));
    else this.#complaint = '';
  }

  /** Once for each kind of trouble in a row. */
  #complain(reason: string): void {
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    const { namespace, name } = CONFIG_MAP;
    this.#logger.warning('Cannot learn everything about whom to believe; what was known stays', {
      configMap: `${namespace}/${name}`,
      reason,
    });
  }
}

/** The texts of the config map by key; the same ones for as long as none of them changes. */
type ConfigMapData = Readonly<Record<string, string>>;

/** Keeps of a ConfigMap object what it says. */
export function dataOf(configMap: unknown): ConfigMapData {
  const data = propertyOf(configMap, 'data');
  if (typeof data !== 'object' || data === null) return {};
  return Object.fromEntries(Object.entries(data).filter(([, text]) => typeof text === 'string'));
}

/**
 * Reads who signs users' certificates.
 *
 * @throws when it does not say, or nothing that can be read
 */
export function clientAuthoritiesIn(data: ConfigMapData): CaBundle {
  return parseCaBundle(textAt(data, 'client-ca-file'));
}

/**
 * Reads who the front proxy is and how it speaks.
 *
 * @returns `undefined` when the cluster has none
 * @throws when what it says cannot be read
 */
export function frontProxyIn(data: ConfigMapData): FrontProxyConfig | undefined {
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
    throw new Error(`Cannot read ${key}: it is no JSON list of texts`, { cause });
  }
}

function textAt(data: ConfigMapData, key: string): string {
  return getOwn(data, key) ?? '';
}
