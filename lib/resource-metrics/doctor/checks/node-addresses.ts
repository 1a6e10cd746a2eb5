import type { Check } from '#lib/resource-metrics/doctor/check.ts';
import { failed, ok } from '#lib/resource-metrics/doctor/finding.ts';
import { formatAddress } from '#lib/resource-metrics/nodes/node-address.ts';

/** At which address each node is asked, and why at that. */
export const nodeAddresses: Check = {
  name: 'node-addresses',
  title: 'Node addresses',

  async run(context) {
    const { preferredAddressTypes, useNodeStatusPort } = context.options.kubelet;
    const wanted = preferredAddressTypes.join(', ');
    return (await context.probes()).map(({ node, target }) => {
      const subject = `node "${node.name}"`;
      const types = [...new Set(node.addresses.map(({ type }) => type))];
      if ('reason' in target) {
        const seen = `has ${types.length === 0 ? 'no address at all' : `only ${types.join(', ')}`}; wanted: ${wanted}`;
        return failed(subject, seen, {
          diagnosis: 'node-without-address',
          TYPES:
            types.join(',') || 'first give the node an address (its kubelet or cloud provider does that)',
        });
      }
      const hasIt = (type: string) =>
        node.addresses.some((one) => one.type === type && one.address === target.host);
      const type = preferredAddressTypes.find(hasIt);
      const port =
        useNodeStatusPort && node.kubeletPort !== undefined ? "the node's status" : '--kubelet-port';
      return ok(
        subject,
        `${formatAddress(target)}: its ${type} is the first it has of ${wanted}; the port is from ${port}`,
      );
    });
  },
};
