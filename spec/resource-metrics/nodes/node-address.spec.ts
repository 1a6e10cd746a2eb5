import { expect } from 'chai';
import {
  type AddressRules,
  chooseScrapeTarget,
  formatAddress,
} from '#lib/resource-metrics/nodes/node-address.ts';
import type { LiveNode } from '#lib/resource-metrics/nodes/node-cache.ts';

const RULES: AddressRules = {
  preferredAddressTypes: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
  port: 10250,
  useNodeStatusPort: false,
  verifyNodeName: false,
};

describe('chooseScrapeTarget', () => {
  it('chooses the most preferred type, not the first address', () => {
    const node = nodeWith([
      { type: 'InternalIP', address: '10.0.0.7' },
      { type: 'Hostname', address: 'a.example' },
    ]);
    expect(chooseScrapeTarget(node, RULES)).to.deep.equal({ nodeName: 'a', host: 'a.example', port: 10250 });
  });

  it('returns alternative names if they are accepted', () => {
    const node = nodeWith([
      { type: 'Hostname', address: 'a.example' },
      { type: 'InternalIP', address: '10.0.0.7' },
    ]);
    expect(chooseScrapeTarget(node, { ...RULES, verifyNodeName: true }))
      .to.have.property('alternativeNames')
      .that.deep.equals(['a', 'a.example', '10.0.0.7']);
    expect(chooseScrapeTarget(node, RULES)).not.to.have.property('alternativeNames');
  });

  it('chooses the first of two addresses of one type', () => {
    const node = nodeWith([
      { type: 'InternalIP', address: 'fd00::7' },
      { type: 'InternalIP', address: '10.0.0.7' },
    ]);
    expect(chooseScrapeTarget(node, RULES)).to.have.property('host', 'fd00::7');
  });

  it('skips an empty address', () => {
    const node = nodeWith([
      { type: 'Hostname', address: '' },
      { type: 'InternalIP', address: '10.0.0.7' },
    ]);
    expect(chooseScrapeTarget(node, RULES)).to.have.property('host', '10.0.0.7');
  });

  it('names the preferred types if none matches', () => {
    const rules = { ...RULES, preferredAddressTypes: ['InternalIP', 'ExternalIP', 'Hostname'] };
    expect(chooseScrapeTarget(nodeWith([{ type: 'InternalDNS', address: 'a' }]), rules)).to.deep.equal({
      nodeName: 'a',
      reason: 'no address matched types [InternalIP ExternalIP Hostname]',
    });
  });

  it("uses the port of the node's status only if enabled and present", () => {
    const node = nodeWith([{ type: 'InternalIP', address: '10.0.0.7' }], 10260);
    const portless = nodeWith(node.addresses);
    const rules = { ...RULES, useNodeStatusPort: true };
    expect(chooseScrapeTarget(node, RULES)).to.have.property('port', 10250);
    expect(chooseScrapeTarget(node, rules)).to.have.property('port', 10260);
    expect(chooseScrapeTarget(portless, rules)).to.have.property('port', 10250);
  });
});

describe('formatAddress', () => {
  it('adds brackets only to IPv6 addresses', () => {
    expect(formatAddress({ host: 'fd00::7', port: 10250 })).to.equal('[fd00::7]:10250');
    expect(formatAddress({ host: '10.0.0.7', port: 10250 })).to.equal('10.0.0.7:10250');
    expect(formatAddress({ host: 'a.example', port: 10250 })).to.equal('a.example:10250');
  });
});

function nodeWith(addresses: LiveNode['addresses'], kubeletPort?: number): LiveNode {
  return { name: 'a', labels: {}, addresses, kubeletPort, resourceMetricsPath: undefined };
}
