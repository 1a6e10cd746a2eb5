import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { type Clock, systemClock } from '#lib/time/clock.ts';
import type { NewObject } from '#simulator/objects/kubernetes-object.ts';
import type { ScenarioInput } from '#simulator/scenario.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { ClusterClient } from './cluster-client.ts';
import { ManualClock } from './manual-clock.ts';
import { PlainClient } from './plain-client.ts';
import { RecordingLogger } from './recording-logger.ts';

/** The simulator's API server on a loopback address, without nodes or pods unless the scenario has some. */
export interface SimulatedApiServer<C extends Clock = ManualClock> extends AsyncDisposable {
  readonly cluster: SimulatedCluster;
  readonly clock: C;
  /** Sends requests as the administrator; specs assert the responses. */
  readonly client: PlainClient;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** The administrator's access, as programs load it. */
  access(): Promise<ClusterAccess>;
}

export interface SimulatedApiServerOptions {
  /** CustomResourceDefinitions, served from the start. */
  readonly definitions?: readonly NewObject[];
  readonly scenario?: ScenarioInput;
  readonly clock?: ManualClock;
}

/** Starts the API server on a manual clock; use with `await using`. */
export async function startSimulatedApiServer(
  options: SimulatedApiServerOptions = {},
): Promise<SimulatedApiServer> {
  const { clock = new ManualClock() } = options;
  return await startOn(clock, options);
}

/** Starts the API server on the system's clock, for programs with real deadlines. */
export async function startLiveApiServer(
  options: Omit<SimulatedApiServerOptions, 'clock'> = {},
): Promise<SimulatedApiServer<Clock>> {
  return await startOn(systemClock, options);
}

async function startOn<C extends Clock>(
  clock: C,
  { definitions = [], scenario = {} }: SimulatedApiServerOptions,
): Promise<SimulatedApiServer<C>> {
  const cluster = await startCluster({ nodes: 0, ...scenario }, { clock });
  const client = new PlainClient(new ClusterClient(cluster));
  for (const definition of definitions) {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const { status, body } = await client.post(path, definition);
    if (status !== 201) throw new Error(`Cannot define ${definition.metadata.name}: ${body.message}`);
  }
  const { kubeconfig } = cluster.files;
  return {
    cluster,
    clock,
    client,
    kubeconfig,
    access: () => loadClusterAccess({ kubeconfig, clock, logger: new RecordingLogger() }),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}
