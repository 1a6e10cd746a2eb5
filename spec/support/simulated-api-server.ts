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

/** The simulator's API server on a loopback address, with nothing behind it unless a scenario says so. */
export interface SimulatedApiServer<C extends Clock = ManualClock> extends AsyncDisposable {
  readonly cluster: SimulatedCluster;
  readonly clock: C;
  /** Sends what it is told to, as the administrator, and leaves it to the spec to judge what comes back. */
  readonly client: PlainClient;
  /** Where the administrator's kubeconfig is. */
  readonly kubeconfig: string;
  /** The administrator's access, as programs have it. */
  access(): Promise<ClusterAccess>;
}

/** What there is when a spec begins. */
export interface SimulatedApiServerOptions {
  /** CustomResourceDefinitions, served from the start. */
  readonly definitions?: readonly NewObject[];
  readonly scenario?: ScenarioInput;
  readonly clock?: ManualClock;
}

/** Starts the API server on a manual clock; `await using` it. */
export async function startSimulatedApiServer(
  options: SimulatedApiServerOptions = {},
): Promise<SimulatedApiServer> {
  const { clock = new ManualClock() } = options;
  return await startOn(clock, options);
}

/** Starts it on the system's clock, for programs whose deadlines pass by themselves while sockets take their time. */
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
