import type { CaBundle } from '#lib/apiserver/certificates/ca-bundle.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import { describeError, type Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { FrontProxyConfig } from './authentication-config.ts';
import { type ConfigMapData, clientAuthoritiesIn, dataOf, frontProxyIn } from './config-map-data.ts';

/** What following the cluster's configuration needs from outside. */
export interface ClusterAuthenticationConfigOptions {
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
