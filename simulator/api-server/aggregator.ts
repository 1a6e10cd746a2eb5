import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import type { KeyedCertificate } from '../access/certificate-authority.ts';
import { formatTimestamp, type KubernetesObject, type NewObject } from '../objects/kubernetes-object.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import type { ApiRequest } from './api-request.ts';
import { BackendConnection, forwardedHeaders, returnedHeaders } from './backend-connection.ts';

interface Registration {
  readonly backend: Backend;
  readonly connection: BackendConnection;
  readonly stopped: AbortController;
  isAvailable: boolean | undefined;
}

const PROBE_INTERVAL_MS = 30_000;
const RETRY_INTERVAL_MS = 1_000;
const PROBE_TIMEOUT_MS = 5_000;

/**
 * The aggregation layer: APIServices, the availability of their servers, and the proxy to them. Unlike the real one, it
 * also sends requests to a server that was unavailable a moment ago, so that no client waits for a probe.
 */
export class Aggregator {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #store: ObjectStore;
  readonly #identity: KeyedCertificate;
  readonly #registrations = new Map<string, Registration>();

  /** @param identity the front-proxy client certificate */
  constructor(options: { clock: Clock; logger: Logger; store: ObjectStore; identity: KeyedCertificate }) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#store = options.store;
    this.#identity = options.identity;
  }

  /** Sends a group's requests to a server from now on; replaces an earlier one. */
  register(backend: Backend): void {
    this.unregister(backend);
    const { host, port, service, caPem } = backend;
    const registration: Registration = {
      backend,
      connection: new BackendConnection({
        host,
        port,
        cert: this.#identity.certificatePem,
        key: this.#identity.privateKeyPem,
        servername: `${service.name}.${service.namespace}.svc`,
        ...(caPem === undefined ? { rejectUnauthorized: false } : { ca: caPem }),
      }),
      stopped: new AbortController(),
      isAvailable: undefined,
    };
    this.#registrations.set(keyOf(backend), registration);
    this.#store.create('apiservices.apiregistration.k8s.io', apiServiceObject(backend));
    void this.#probeRepeatedly(registration);
  }

  unregister(of: { readonly group: string; readonly version: string }): void {
    const registration = this.#registrations.get(keyOf(of));
    if (!registration) return;
    registration.stopped.abort();
    registration.connection.close();
    this.#registrations.delete(keyOf(of));
    this.#store.delete('apiservices.apiregistration.k8s.io', undefined, `${of.version}.${of.group}`);
  }

  /** The server of a path, which is `/apis/GROUP/VERSION` or below. */
  backendFor(path: string): Backend | undefined {
    const [prefix, group = '', version = ''] = path.split('/').filter(Boolean);
    return prefix === 'apis' ? this.#registrations.get(`${group}/${version}`)?.backend : undefined;
  }

  /** All registered servers. */
  backends(): readonly Backend[] {
    return [...this.#registrations.values()].map(({ backend }) => backend);
  }

  /** Forwards a request with its user, and streams the response back. */
  async proxy(request: ApiRequest, backend: Backend): Promise<void> {
    const registration = this.#registrations.get(keyOf(backend));
    if (!registration) return;
    const { response } = request;
    try {
      const hasBody = !['GET', 'HEAD'].includes(request.method);
      const reply = await registration.connection.request({
        method: request.method,
        path: request.url,
        headers: forwardedHeaders(request, backend),
        ...(hasBody ? { body: request.raw } : {}),
        signal: request.signal,
      });
      for (const [name, value] of returnedHeaders(reply.headers)) response.setHeader(name, value);
      response.writeHead(reply.status);
      response.flushHeaders();
      await pipeline(reply.body, response);
    } catch (error) {
      if (response.headersSent || request.signal.aborted) return void response.destroy();
      this.#setAvailability(registration, unavailable(backend, error));
      response.writeHead(503, {
        'Content-Type': 'text/plain; charset=utf-8',
        'X-Content-Type-Options': 'nosniff',
      });
      response.end(`error trying to reach service: ${reasonOf(error, backend)}\n`);
    }
  }

  /** Queries the resources of each registered server. */
  async groups(signal: AbortSignal): Promise<readonly AggregatedGroup[]> {
    return Promise.all(
      [...this.#registrations.values()].map(async (registration) => {
        const { group, version } = registration.backend;
        const list = await this.#fetch(registration, `/apis/${group}/${version}`, signal).catch(
          () => undefined,
        );
        const resources = (list as { resources?: readonly AggregatedResource[] } | undefined)?.resources;
        return { group, version, resources };
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { stopped, connection } of this.#registrations.values()) {
      stopped.abort();
      connection.close();
    }
    this.#registrations.clear();
  }

  async #fetch({ backend, connection }: Registration, path: string, signal: AbortSignal): Promise<unknown> {
    using deadline = startDeadline(this.#clock, PROBE_TIMEOUT_MS, {
      signal,
      expired: () => new Error(`no response within ${PROBE_TIMEOUT_MS} ms`),
    });
    const { status, body } = await connection.request({
      method: 'GET',
      path,
      headers: {
        Accept: 'application/json',
        'User-Agent': 'Go-http-client/2.0',
        'X-Remote-Group': ['system:masters'],
        'X-Remote-User': 'system:kube-aggregator',
      },
      signal: deadline.signal,
    });
    const reply = await text(body);
    if (status !== 200) throw new Error(`bad status from ${urlOf(backend, path)}: ${status}`);
    return JSON.parse(reply);
  }

  async #probeRepeatedly(registration: Registration): Promise<void> {
    const { backend, stopped } = registration;
    const { signal } = stopped;
    while (!signal.aborted) {
      try {
        await this.#fetch(registration, `/apis/${backend.group}/${backend.version}`, signal);
        this.#setAvailability(registration, AVAILABLE);
      } catch (error) {
        if (signal.aborted) return;
        this.#setAvailability(registration, unavailable(backend, error));
      }
      const intervalMs = registration.isAvailable ? PROBE_INTERVAL_MS : RETRY_INTERVAL_MS;
      await this.#clock.sleep(intervalMs, { signal }).catch(() => {});
    }
  }

  #setAvailability(registration: Registration, availability: Availability): void {
    if (registration.isAvailable === availability.isAvailable) return;
    registration.isAvailable = availability.isAvailable;
    const name = `${registration.backend.version}.${registration.backend.group}`;
    const object = this.#store.get('apiservices.apiregistration.k8s.io', undefined, name);
    if (object)
      this.#store.update(
        'apiservices.apiregistration.k8s.io',
        withAvailability(object, availability, this.#clock),
      );
    this.#logger.info(`APIService is ${availability.isAvailable ? 'available' : 'unavailable'}`, {
      name,
      reason: availability.message,
    });
  }
}

const AVAILABLE: Availability = { isAvailable: true, reason: 'Passed', message: 'all checks passed' };

function unavailable(backend: Backend, error: unknown): Availability {
  const url = urlOf(backend, `/apis/${backend.group}/${backend.version}`);
  return {
    isAvailable: false,
    reason: 'FailedDiscoveryCheck',
    message: `failing or missing response from ${url}: ${reasonOf(error, backend)}`,
  };
}

function reasonOf(error: unknown, { host, port }: Backend): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' ? `dial tcp ${host}:${port}: connect: connection refused` : message;
}

function urlOf({ host, port }: Backend, path: string): string {
  return `https://${host}:${port}${path}`;
}

function keyOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return `${group}/${version}`;
}

/** An API group of an aggregated server, and its resources. */
export interface AggregatedGroup {
  readonly group: string;
  readonly version: string;
  /** `resources` of its APIResourceList; `undefined` while the server is unreachable. */
  readonly resources: readonly AggregatedResource[] | undefined;
}

/** The part of `metav1.APIResource` that discovery passes on. */
export interface AggregatedResource {
  readonly name: string;
  readonly singularName?: string;
  readonly namespaced?: boolean;
  readonly kind: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** A server that serves one version of an API group behind the API server. */
interface Backend {
  readonly group: string;
  readonly version: string;
  readonly host: string;
  readonly port: number;
  /** The service that its APIService names; its certificate must contain that name. */
  readonly service: { readonly namespace: string; readonly name: string };
  /** PEM of the CA of its certificate; without one the certificate is not verified (`insecureSkipTLSVerify`). */
  readonly caPem?: string;
}

/** The result of the last probe of an aggregated server. */
interface Availability {
  readonly isAvailable: boolean;
  readonly reason: string;
  readonly message: string;
}

/** The APIService of apiregistration.k8s.io/v1 that registers an aggregated server. */
function apiServiceObject({ group, version, service, caPem }: Backend): NewObject {
  return {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: { name: `${version}.${group}`, labels: { 'k8s-app': service.name } },
    spec: {
      service: { ...service, port: 443 },
      group,
      version,
      ...(caPem === undefined
        ? { insecureSkipTLSVerify: true }
        : { caBundle: Buffer.from(caPem).toString('base64') }),
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
    status: {},
  };
}

/** The APIService with its current condition Available. */
function withAvailability(
  object: KubernetesObject,
  { isAvailable, reason, message }: Availability,
  clock: Clock,
): KubernetesObject {
  const condition = {
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    lastTransitionTime: formatTimestamp(clock.nowMs()),
    reason,
    message,
  };
  return { ...object, status: { conditions: [condition] } };
}

/** The API group of an aggregated server, and the service that represents it. */
interface AggregatedServer {
  readonly service: string;
  readonly versions: readonly { readonly group: string; readonly version: string }[];
}

/** The servers of resource metrics, and of custom and external ones, as the manifests register them. */
export const AGGREGATED_SERVERS = {
  metricsServer: {
    service: 'metrics-server',
    versions: [{ group: 'metrics.k8s.io', version: 'v1beta1' }],
  },
  autoscaler: {
    service: 'autoscaler',
    versions: [
      { group: 'custom.metrics.k8s.io', version: 'v1beta1' },
      { group: 'custom.metrics.k8s.io', version: 'v1beta2' },
      { group: 'external.metrics.k8s.io', version: 'v1beta1' },
    ],
  },
} as const satisfies Record<string, AggregatedServer>;

/** Sends requests for the groups of an aggregated server to an address from now on. */
export function registerServer(
  aggregator: Aggregator,
  { service, versions }: AggregatedServer,
  { host, port, caPem }: ServerAddress,
): void {
  for (const one of versions) {
    aggregator.register({
      ...{ ...one, host, port },
      service: { namespace: 'kube-system', name: service },
      ...(caPem === undefined ? {} : { caPem }),
    });
  }
}

/** Address of an aggregated server. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** PEM of the CA that issued its certificate; without one the certificate is not verified. */
  readonly caPem?: string;
}
