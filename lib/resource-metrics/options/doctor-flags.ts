import { flag } from '#lib/flags/flag.ts';
import { oneOf, text } from '#lib/flags/flag-kinds.ts';

/** What the doctor looks at, beside the flags of the server that it takes too. */
export const doctorFlags = {
  output: flag('output', oneOf('text', 'json'), {
    shorthand: 'o',
    default: 'text',
    description: 'How to tell what was found: text or json.',
  }),
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
  serverAccount: flag('server-account', text, {
    default: '',
    description:
      'The user name of the server, system:serviceaccount:NAMESPACE:NAME, whose permissions are looked at when the doctor runs ' +
      'under an account of its own; by default its own permissions are.',
  }),
};
