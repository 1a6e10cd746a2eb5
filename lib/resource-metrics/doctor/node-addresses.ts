import { type Check, findingsOr, ok } from '#lib/doctor/check.ts';
import { failed } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { DoctorContext } from '#lib/resource-metrics/doctor/doctor-context.ts';
import { formatAddress } from '#lib/resource-metrics/nodes/node-address.ts';

/** Reports the address chosen for each node, and why. */
export const nodeAddresses: Check<DoctorContext> = {
  name: 'node-addresses',
  title: 'Node addresses',

  async run(context) {
    const { preferredAddressTypes, useNodeStatusPort } = context.options.kubelet;
    const preferred = preferredAddressTypes.join(', ');
    const probes = await context.probes();
    const selected = context.doctor.node;
    if (selected !== undefined && probes.length === 0) {
      const seen = 'does not exist, or --node-selector does not select it';
      return [failed(`node "${selected}"`, seen, { diagnosis: 'node-unknown' })];
    }
    const found = probes.map(({ node, target }) => {
      const subject = `node "${node.name}"`;
      const types = [...new Set(node.addresses.map(({ type }) => type))];
      if ('reason' in target) {
        return types.length === 0
          ? failed(subject, 'has no address', { diagnosis: 'node-without-any-address', NODE: node.name })
          : failed(subject, `has only ${types.join(', ')}; preferred: ${preferred}`, {
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
        `${formatAddress(target)}: its ${type}, the first match of ${preferred}; port from ${port}`,
      );
    });
    return findingsOr('nodes', found, probes);
  },
};
