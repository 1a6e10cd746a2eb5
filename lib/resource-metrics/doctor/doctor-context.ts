import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { listCollection } from '#lib/kubernetes/client/collection.ts';
import { propertyOf } from '#lib/kubernetes/object-metadata.ts';
import type { LiveNode } from '#lib/resource-metrics/nodes/live-nodes.ts';
import { reduceNode } from '#lib/resource-metrics/nodes/reduce-node.ts';
import type { DoctorOptions, MetricsServerOptions } from '#lib/resource-metrics/options.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { KubeletProbe } from './kubelet-probe.ts';
import { requiring } from './missing-permission.ts';
import { type RunningPod, readRunningPod } from './running-pod.ts';

/** What checks look at, with the flags and the credentials of the server. */
export interface DoctorContextOptions {
  readonly options: MetricsServerOptions;
  readonly doctor: DoctorOptions;
  readonly access: ClusterAccess;
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Asks the kubelets of nodes, as the server does. */
  readonly probe: (nodes: readonly LiveNode[], signal: AbortSignal) => Promise<readonly KubeletProbe[]>;
}

/** What checks share: the cluster's nodes, pods and kubelets are asked for once, when the first check wants them. */
export class DoctorContext {
  readonly options: MetricsServerOptions;
  readonly doctor: DoctorOptions;
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly #given: DoctorContextOptions;
  #probes: Promise<readonly KubeletProbe[]> | undefined;
  #pods: Promise<readonly RunningPod[]> | undefined;
  #account: Promise<string | undefined> | undefined;

  constructor(given: DoctorContextOptions) {
    this.options = given.options;
    this.doctor = given.doctor;
    this.access = given.access;
    this.clock = given.clock;
    this.#given = given;
  }

  /**
   * Reads from the API server.
   *
   * @param permission what it takes, as in `get configmaps`
   * @throws {MissingPermission} when that is refused
   */
  async get(path: string, permission: string): Promise<unknown> {
    const { client, signal } = this.#given;
    return await requiring(permission, () => client.getJson(path, { signal }));
  }

  /** Sends a review to the API server. */
  async review(path: string, review: unknown, permission: string): Promise<unknown> {
    const { client, signal } = this.#given;
    return await requiring(permission, () => client.postJson(path, review, { signal }));
  }

  /** What came of asking the kubelets, or that of `--node` alone; nothing where there is no such node. */
  async probes(): Promise<readonly KubeletProbe[]> {
    this.#probes ??= this.#probe();
    return await this.#probes;
  }

  /** The pods that run, or run on the node of `--node`. */
  async pods(): Promise<readonly RunningPod[]> {
    this.#pods ??= this.#listPods();
    return await this.#pods;
  }

  /** Who we are to the API server and to kubelets; `undefined` where that is not told, as before Kubernetes 1.28. */
  async account(): Promise<string | undefined> {
    this.#account ??= this.#askWhoWeAre();
    return await this.#account;
  }

  async #askWhoWeAre(): Promise<string | undefined> {
    const { client, signal } = this.#given;
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const response = await client.postJson(path, review, { signal }).catch(() => undefined); // only names a remedy
    const name = propertyOf(propertyOf(propertyOf(response, 'status'), 'userInfo'), 'username');
    return typeof name === 'string' ? name : undefined;
  }

  async #probe(): Promise<readonly KubeletProbe[]> {
    const { options, doctor, signal, probe } = this.#given;
    const nodes = await this.#list('nodes', reduceNode, {
      path: '/api/v1/nodes',
      labelSelector: options.nodeSelector,
      fieldSelector: doctor.node === undefined ? undefined : `metadata.name=${doctor.node}`,
    });
    return await probe(nodes, signal);
  }

  async #listPods(): Promise<readonly RunningPod[]> {
    const { node } = this.doctor;
    const onNode = node === undefined ? '' : `,spec.nodeName=${node}`;
    return await this.#list('pods', readRunningPod, {
      path: '/api/v1/pods',
      fieldSelector: `status.phase=Running${onNode}`,
    });
  }

  async #list<T>(
    resource: string,
    read: (object: unknown) => T | undefined,
    collection: Parameters<typeof listCollection>[1],
  ): Promise<readonly T[]> {
    const { client, signal } = this.#given;
    const items: T[] = [];
    const visit = (object: unknown) => {
      const item = read(object);
      if (item !== undefined) items.push(item);
    };
    await requiring(`list ${resource}`, () => listCollection(client, collection, { visit, signal }));
    return items;
  }
}
