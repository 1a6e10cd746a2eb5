import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

/** A namespaced test resource with a status subresource. */
export const WIDGETS: ApiResource = {
  group: 'spec.example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};

/** A widget with its desired and observed number. */
export interface Widget extends KubernetesObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** A simulated cluster without nodes, and a client with all permissions. */
export interface SimulatedApi extends AsyncDisposable {
  readonly cluster: SimulatedCluster;
  readonly api: ApiClient;
  readonly mapper: RestMapper;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly widgets: ResourceClient<Widget>;
}

/** Starts a cluster that serves widgets. */
export async function startSimulatedApi(): Promise<SimulatedApi> {
  await using stack = new AsyncDisposableStack();
  const clock = new ManualClock(Date.now());
  const logger = new RecordingLogger();
  const cluster = stack.use(await startCluster({ nodes: 0 }));
  const access = await loadClusterAccess({ kubeconfig: cluster.files.kubeconfig, clock, logger });
  const api = stack.use(new ApiClient({ access, clock, userAgent: 'spec' }));
  await api.postJson('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', WIDGET_DEFINITION);
  const owned = stack.move();
  return {
    cluster,
    api,
    mapper: new RestMapper({ api, clock }),
    clock,
    logger,
    widgets: new ResourceClient<Widget>({ api, resource: WIDGETS }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const WIDGET_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.spec.example.com' },
  spec: {
    group: WIDGETS.group,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: ANYTHING, status: ANYTHING } } },
        subresources: { status: {} },
      },
    ],
  },
};
