import { expect } from 'chai';
import { parse } from 'yaml';
import { EXAMPLE_SCENARIO, parseCommandLine, USAGE } from '#simulator/command-line.ts';
import { parseScenario } from '#simulator/scenario.ts';

describe('parseCommandLine', () => {
  it('has defaults', () => {
    expect(parseCommandLine([])).to.deep.include({
      port: 6443,
      kubeletPort: 10250,
      metricsServer: { host: '127.0.0.1', port: 4443 },
      scenario: {},
    });
  });

  it('reads flags in both spellings', () => {
    const { scenario, metricsServer, kubeconfig } = parseCommandLine([
      '--nodes=2',
      '--pods-per-node',
      '5',
      '--metrics-server=[::1]:444',
      '--kubeconfig',
      'file',
    ]);
    expect(scenario).to.deep.equal({ nodes: 2, podsPerNode: 5 });
    expect(metricsServer).to.deep.equal({ host: '::1', port: 444 });
    expect(kubeconfig).to.equal('file');
  });

  it('reads the address of the autoscaler', () => {
    expect(parseCommandLine([]).autoscaler).to.equal(undefined);
    expect(parseCommandLine(['--autoscaler=127.0.0.1:4444']).autoscaler).to.deep.equal({
      host: '127.0.0.1',
      port: 4444,
    });
    expect(() => parseCommandLine(['--autoscaler=4444'])).to.throw('--autoscaler=4444 is not HOST:PORT');
  });

  it('reads a number of namespaces', () => {
    expect(parseCommandLine(['--namespaces=50']).scenario).to.deep.equal({ namespaces: 50 });
    expect(() => parseCommandLine(['--namespaces=shop'])).to.throw(
      'Cannot start: --namespaces=shop is not a whole number',
    );
  });

  it('reads feature gates as kubelets do', () => {
    const { scenario } = parseCommandLine(['--feature-gates=KubeletPSI=false', '--apps-per-namespace=7']);
    expect(scenario).to.deep.equal({ appsPerNamespace: 7, featureGates: { KubeletPSI: false } });
    expect(() => parseCommandLine(['--feature-gates=KubeletPSI'])).to.throw(
      'Cannot start: --feature-gates=KubeletPSI is not a list of GATE=true or GATE=false',
    );
  });

  it('refuses an unknown value', () => {
    expect(() => parseCommandLine(['--colour'])).to.throw(/^Cannot start: Unknown option '--colour'$/);
    expect(() => parseCommandLine(['nodes'])).to.throw(/^Cannot start: Unexpected argument 'nodes'/);
  });

  it('names flag, value and rule of a wrong value', () => {
    expect(() => parseCommandLine(['--nodes=many'])).to.throw(
      'Cannot start: --nodes=many is not a whole number',
    );
    expect(() => parseCommandLine(['--port=70000'])).to.throw('--port=70000 is not a port from 0 to 65535');
    expect(() => parseCommandLine(['--metrics-server=here'])).to.throw(
      '--metrics-server=here is not HOST:PORT',
    );
  });
});

describe('EXAMPLE_SCENARIO', () => {
  it('is a scenario', () => {
    const { nodes, nodeOverrides, pods } = parseScenario(parse(EXAMPLE_SCENARIO));
    expect(nodes).to.equal(50);
    expect(nodeOverrides['node-4']?.faults).to.have.length(2);
    expect(pods[0]?.containers?.[0]).to.include({ name: 'burn', cpuMillicores: 60 });
  });
});

describe('USAGE', () => {
  it('names every flag', () => {
    for (const flag of ['--nodes N', '--scenario FILE', '--files-dir DIR', '--help'])
      expect(USAGE).to.include(flag);
  });
});
