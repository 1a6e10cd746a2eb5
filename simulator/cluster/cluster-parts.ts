import type { Logger } from '#lib/telemetry/logger.ts';
import { systemClock } from '#lib/time/system-clock.ts';
import { Authenticator } from '../access/authenticator.ts';
import { defaultGrants } from '../access/default-grants.ts';
import { Rbac } from '../access/rbac.ts';
import { Aggregator } from '../api-server/aggregation/aggregator.ts';
import { ApiServer } from '../api-server/api-server.ts';
import { Controllers } from '../controllers/controllers.ts';
import { CustomResources } from '../controllers/custom-resource-definition.ts';
import { Truth } from '../nodes/actual-usage.ts';
import { NodeFleet } from '../nodes/node-fleet.ts';
import { Workloads } from '../nodes/pod-runner.ts';
import { Scheduler } from '../nodes/scheduler.ts';
import { ObjectStore } from '../objects/object-store.ts';
import { createClusterPki } from '../pki/certificate-authority.ts';
import { builtInTypes } from '../resources/kinds/built-in-types.ts';
import { ResourceRegistry } from '../resources/resource-type.ts';
import type { Scenario } from '../scenario.ts';
import type { ClusterOptions } from './cluster-options.ts';

const SILENT: Logger = { info: () => {}, warning: () => {}, error: () => {} };

/** What a cluster consists of, put together and not started. */
export type ClusterParts = ReturnType<typeof createClusterParts>;

/** Puts a cluster together: who may do what, what the API server serves, the kubelets, and the controllers. */
export function createClusterParts(
  scenario: Scenario,
  { clock = systemClock, logger = SILENT, address = '127.0.0.1', kubeletPort = 0 }: ClusterOptions,
) {
  const pki = createClusterPki([...new Set([address, '127.0.0.1'])]);
  const store = new ObjectStore(clock);
  const registry = new ResourceRegistry(builtInTypes(scenario.kubernetesMinor));
  const rbac = new Rbac([...defaultGrants(scenario.kubeletAccess), ...scenario.grants]);
  const authenticator = new Authenticator();
  for (const [token, holder] of Object.entries(scenario.tokens)) authenticator.setToken(token, holder);
  const customResources = new CustomResources({ clock, logger, store, registry });
  const aggregator = new Aggregator({ clock, logger, store, identity: pki.frontProxy });
  const minor = scenario.kubernetesMinor;
  const served = { pki, store, registry, minor, authenticator, rbac, aggregator };
  const apiServer = new ApiServer({ clock, logger, ...served });
  const fleet = new NodeFleet({
    ...{ clock, scenario, store, pki, kubeletPort },
    gate: {
      authenticate: (credentials) => authenticator.authenticate(credentials),
      isAllowed: (caller, request) => rbac.decide(caller, request).isAllowed,
    },
  });
  const workloads = new Workloads({ clock, store, scenario, node: (name) => fleet.get(name) });
  const scheduler = new Scheduler({
    ...{ clock, store, nodes: () => fleet.values() },
    podStartupMs: scenario.podStartupSeconds * 1000,
  });
  const controllers = new Controllers({ clock, store, registry, logger });
  const truth = new Truth(clock, () => [...fleet.values()].map(({ machine }) => machine));
  const simulated = { customResources, fleet, workloads, scheduler, controllers, truth };
  return { clock, ...served, apiServer, ...simulated };
}
