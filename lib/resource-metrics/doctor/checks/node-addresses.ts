import { type Check, ok } from '#lib/doctor/check.ts';
import { failed } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { DoctorContext } from '#lib/resource-metrics/doctor/doctor-context.ts';
import { formatAddress } from '#lib/resource-metrics/nodes/node-address.ts';

/** At which address each node is asked, and why at that. */
export const nodeAddresses: Check<DoctorContext> = {
  name: 'node-addresses',
  title: 'Node addresses',

  async run(context) {
    const { preferredAddressTypes, useNodeStatusPort } = context.options.kubelet;
    const wanted = preferredAddressTypes.join(', ');
    const probes = await context.probes();
    const asked = context.doctor.node;
    if (asked !== undefined && probes.length === 0) {
      const seen = 'the API server knows no such node, or --node-selector leaves it out';
      return [failed(`node "${asked}"`, seen, { diagnosis: 'node-unknown' })];
    }
    return probes.map(({ node, target }) => {
      const subject = `node "${node.name}"`;
      const types = [...new Set(node.addresses.map(({ type }) => type))];
      if ('reason' in target) {
        return types.length === 0
          ? failed(subject, 'has none', { diagnosis: 'node-without-any-address', NODE: node.name })
          : failed(subject, `has only ${types.join(', ')}; wanted: ${wanted}`, {
              diagnosis: 'node-without-address',
              TYPES: types.join(','),
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
