import { expect } from 'chai';
import { parseScenario } from '#simulator/scenario.ts';

describe('parseScenario', () => {
  it('has a default for everything', () => {
    const scenario = parseScenario({});
    expect(scenario).to.include({ seed: 1, nodes: 3, podsPerNode: 10, containersPerPod: 1 });
  });

  it('names the field and the rule of each mistake', () => {
    const mistakes = {
      nodes: -1,
      cpuMillicores: { from: 5, to: 1 },
      nodeOverrides: { a: { faults: ['hiccup'] } },
    };
    expect(() => parseScenario(mistakes, 'cluster.yaml')).to.throw(
      /^Cannot use cluster.yaml: nodes: .*; cpuMillicores: must not fall from .*; nodeOverrides\.a\.faults\.0: /,
    );
  });

  it('refuses fields that mean nothing', () => {
    expect(() => parseScenario({ node: 3 })).to.throw(/"node"/);
  });

  it('makes faults of their names and descriptions', () => {
    const faults = ['refuse', { status: 503 }, { delayMs: 10 }, { dripBytesPerSecond: 1 }];
    const { nodeOverrides } = parseScenario({ nodeOverrides: { 'node-1': { faults } } });
    const [refuse, status, delay, drip] = nodeOverrides['node-1']?.faults ?? [];
    expect(refuse?.takePort).to.be.a('function');
    expect(status?.change).to.be.a('function');
    expect(delay?.deliver).to.be.a('function');
    expect(drip?.deliver).to.be.a('function');
  });
});
