import { doctorFlags as sharedFlags } from '#lib/doctor/doctor-flags.ts';
import { flag } from '#lib/flags/flag.ts';
import { text } from '#lib/flags/flag-kinds.ts';

/** What the doctor looks at, beside the flags of the server that it takes too. */
export const doctorFlags = {
  output: sharedFlags.output,
  node: flag('node', text, {
    default: '',
    description: 'The one node to look at, with its pods; by default all nodes.',
  }),
  service: flag('service', text, {
    default: 'kube-system/metrics-server',
    description: 'The service of the server, NAMESPACE/NAME, that the APIService is to point at.',
    ruleBrokenBy: (value) =>
      /^[^/]+\/[^/]+$/.test(value) ? undefined : 'must be a namespace and a name with a slash between',
  }),
  serverAccount: sharedFlags.serverAccount,
};
