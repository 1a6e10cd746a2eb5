import type { ClusterOptions } from './cluster/cluster-options.ts';
import { SimulatedCluster } from './cluster/simulated-cluster.ts';
import { parseScenario, type ScenarioInput } from './scenario.ts';

export type { SimulatedCluster };

/**
 * Starts a cluster that consists of an API server and kubelets on loopback addresses, and nothing else.
 *
 * @throws Error when the scenario is wrong or a port is taken
 */
export async function startCluster(
  scenario: ScenarioInput = {},
  options: ClusterOptions = {},
): Promise<SimulatedCluster> {
  const cluster = new SimulatedCluster(parseScenario(scenario), options);
  try {
    await cluster.start();
    return cluster;
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}
