import { doctorFlags as sharedFlags } from '#lib/doctor/doctor.ts';
import { flag, text } from '#lib/flags/flag.ts';
import { isDnsLabel } from '#lib/kubernetes/objects/kubernetes-object.ts';

/** What the doctor looks at, beside the flags of the autoscaler that it takes too. */
export const doctorFlags = {
  output: sharedFlags.output,
  namespace: flag('namespace', text, {
    shorthand: 'n',
    default: '',
    description: 'The one namespace whose objects are looked at; by default all.',
    ruleBrokenBy: (namespace) =>
      namespace === '' || isDnsLabel(namespace) ? undefined : 'must be the name of a namespace',
  }),
  serverAccount: sharedFlags.serverAccount,
};
