import { flag } from '#lib/flags/flag.ts';
import { oneOf, text } from '#lib/flags/flag-kinds.ts';

/** What every doctor takes beside the flags of its server. */
export const doctorFlags = {
  output: flag('output', oneOf('text', 'json'), {
    shorthand: 'o',
    default: 'text',
    description: 'How to tell what was found: text or json.',
  }),
  serverAccount: flag('server-account', text, {
    default: '',
    description:
      'The user name of the server, system:serviceaccount:NAMESPACE:NAME, whose permissions are looked at when the doctor runs ' +
      'under an account of its own; by default its own permissions are.',
  }),
};
