import { expect } from 'chai';
import {
  type AddressRules,
  formatAddress,
  scrapeTargetOf,
} from '#lib/resource-metrics/nodes/node-address.ts';
import type { LiveNode } from '#lib/resource-metrics/nodes/node-cache.ts';

const RULES: AddressRules = {
  preferredAddressTypes: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
  port: 10250,
  useNodeStatusPort: false,
  verifyNodeName: false,
};

describe('scrapeTargetOf', () => {
  it('takes the most wanted type, not the first address', () => {
    const node = nodeWith([
      { type: 'InternalIP', address: '10.0.0.7' },
      { type: 'Hostname', address: 'a.example' },
    ]);
    expect(scrapeTargetOf(node, RULES)).to.deep.equal({ nodeName: 'a', host: 'a.example', port: 10250 });
  });

  it('tells by what other names its certificate may know a node, where they count', () => {
    const node = nodeWith([
      { type: 'Hostname', address: 'a.example' },
      { type: 'InternalIP', address: '10.0.0.7' },
    ]);
    expect(scrapeTargetOf(node, { ...RULES, verifyNodeName: true }))
      .to.have.property('knownAs')
      .that.deep.equals(['a', 'a.example', '10.0.0.7']);
    expect(scrapeTargetOf(node, RULES)).not.to.have.property('knownAs');
  });

  it('takes the first of two addresses of one type', () => {
    const node = nodeWith([
      { type: 'InternalIP', address: 'fd00::7' },
      { type: 'InternalIP', address: '10.0.0.7' },
    ]);
    expect(scrapeTargetOf(node, RULES)).to.have.property('host', 'fd00::7');
  });

  it('passes over an empty address', () => {
    const node = nodeWith([
      { type: 'Hostname', address: '' },
      { type: 'InternalIP', address: '10.0.0.7' },
    ]);
    expect(scrapeTargetOf(node, RULES)).to.have.property('host', '10.0.0.7');
  });

  it('says which types were looked for and not found', () => {
    const rules = { ...RULES, preferredAddressTypes: ['InternalIP', 'ExternalIP', 'Hostname'] };
    expect(scrapeTargetOf(nodeWith([{ type: 'InternalDNS', address: 'a' }]), rules)).to.deep.equal({
      nodeName: 'a',
      reason: 'no address matched types [InternalIP ExternalIP Hostname]',
    });
  });

  it("uses the port of the node's status only when told to and where there is one", () => {
    const node = nodeWith([{ type: 'InternalIP', address: '10.0.0.7' }], 10260);
    const portless = nodeWith(node.addresses);
    const told = { ...RULES, useNodeStatusPort: true };
    expect(scrapeTargetOf(node, RULES)).to.have.property('port', 10250);
    expect(scrapeTargetOf(node, told)).to.have.property('port', 10260);
    expect(scrapeTargetOf(portless, told)).to.have.property('port', 10250);
  });
});

describe('formatAddress', () => {
  it('puts brackets around IPv6 alone', () => {
    expect(formatAddress({ host: 'fd00::7', port: 10250 })).to.equal('[fd00::7]:10250');
    expect(formatAddress({ host: '10.0.0.7', port: 10250 })).to.equal('10.0.0.7:10250');
    expect(formatAddress({ host: 'a.example', port: 10250 })).to.equal('a.example:10250');
  });
});

function nodeWith(addresses: LiveNode['addresses'], kubeletPort?: number): LiveNode {
  return { name: 'a', labels: {}, addresses, kubeletPort, resourceMetricsPath: undefined };
}
