import { expect } from 'chai';
import { planContainer, planNamespaces, planNode, planPod, planPods } from '#simulator/nodes/population.ts';
import { parseScenario } from '#simulator/scenario.ts';

describe('planNode', () => {
  it('gives each node an address of its own', () => {
    const scenario = parseScenario({});
    expect(planNode(scenario, 1).address).to.equal('127.1.0.1');
    expect(planNode(scenario, 300).address).to.equal('127.1.1.44');
    expect(planNode(scenario, 65_537).address).to.equal('127.2.0.1');
  });

  it('replaces placeholders in addresses', () => {
    const scenario = parseScenario({ addresses: [{ type: 'InternalDNS', address: '{name}.{ip}.example' }] });
    expect(planNode(scenario, 2).addresses).to.deep.equal([
      { type: 'InternalDNS', address: 'node-2.127.1.0.2.example' },
    ]);
  });

  it('applies the overrides of the node', () => {
    const scenario = parseScenario({ nodeOverrides: { 'node-2': { pods: 7 } } });
    expect(planNode(scenario, 1).override.pods).to.equal(undefined);
    expect(planNode(scenario, 2).override.pods).to.equal(7);
  });
});

describe('planPods', () => {
  const never = () => false;

  it('deals pods out to namespaces and apps in turn', () => {
    const scenario = parseScenario({ podsPerNode: 4, namespaces: ['a', 'b'], appsPerNamespace: 2 });
    const pods = [...planPods(scenario, planNode(scenario, 1), never)];
    expect(pods.map(({ namespace, labels }) => `${namespace}/${labels.app}`)).to.deep.equal([
      'a/app-1',
      'b/app-1',
      'a/app-2',
      'b/app-2',
    ]);
  });

  it('finds another name for a pod whose name is in use', () => {
    const scenario = parseScenario({ podsPerNode: 1 });
    const node = planNode(scenario, 1);
    const [first] = planPods(scenario, node, never);
    const [second] = planPods(scenario, node, (_namespace, name) => name === first?.name);
    expect(second?.name).not.to.equal(first?.name);
    expect(second?.generateName).to.equal(first?.generateName);
  });

  it('adds the pods that the scenario names', () => {
    const scenario = parseScenario({ podsPerNode: 0, pods: [{ name: 'extra', node: 'node-1' }] });
    expect([...planPods(scenario, planNode(scenario, 1), never)].map(({ name }) => name)).to.deep.equal([
      'extra',
    ]);
    expect([...planPods(scenario, planNode(scenario, 2), never)]).to.deep.equal([]);
  });
});

describe('planPod', () => {
  it('uses the seed for values that are not set', () => {
    const scenario = parseScenario({});
    const containers = [{ name: 'told', cpuMillicores: 60, memoryBytes: 4096 }, { name: 'untold' }];
    const pod = planPod(scenario, { name: 'p', node: 'node-1', containers });
    expect(pod.containers[0]).to.include({ cpuMillicores: 60, memoryBytes: 4096 });
    expect(pod.containers[1]).to.deep.equal(planContainer(scenario, pod, 'untold'));
  });
});

describe('planContainer', () => {
  it('stays within the range, in whole pages', () => {
    const scenario = parseScenario({
      cpuMillicores: { from: 10, to: 20 },
      memoryMebibytes: { from: 1, to: 2 },
    });
    for (let index = 0; index < 100; index++) {
      const { cpuMillicores, memoryBytes } = planContainer(
        scenario,
        { namespace: 'a', name: `p${index}` },
        'c',
      );
      expect(cpuMillicores).to.be.within(10, 20);
      expect(memoryBytes).to.be.within(1024 ** 2, 2 * 1024 ** 2);
      expect(memoryBytes % 4096).to.equal(0);
    }
  });
});

describe('planContainer, of swap', () => {
  const swapOf = (scenario: object, name: string) =>
    planContainer(parseScenario(scenario), { namespace: 'a', name }, 'c').swapBytes;

  it('has no swap if it is off, and some of every container in whole pages if it is on', () => {
    expect(swapOf({}, 'p')).to.equal(0);
    for (let index = 0; index < 100; index++) {
      const swapBytes = swapOf({ nodeSwapGibibytes: 1 }, `p${index}`);
      expect(swapBytes).to.be.within(4096, 16 * 1024 ** 2);
      expect(swapBytes % 4096).to.equal(0);
    }
  });
});

describe('planNamespaces', () => {
  it('has those of every cluster, of the deal, and of named pods, once each', () => {
    const scenario = parseScenario({
      namespaces: 2,
      pods: [{ namespace: 'shop', name: 'p', node: 'node-1' }],
    });
    expect(planNamespaces(scenario)).to.include.members(['kube-system', 'team-1', 'team-2', 'shop']);
    expect(new Set(planNamespaces(scenario)).size).to.equal(planNamespaces(scenario).length);
  });
});
