import { flag, oneOf, text } from '#lib/flags/flag.ts';

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
    ruleBrokenBy: (account) =>
      isUserName(account)
        ? undefined
        : 'must be a user name, which is system:serviceaccount:NAMESPACE:NAME for a service account',
  }),
};

/** Users of certificates and tokens have nearly any name; `NAMESPACE/NAME` means a service account, but is no user, so nothing is granted to it. */
function isUserName(account: string): boolean {
  if (!account.startsWith('system:serviceaccount:')) return !/^[a-z0-9.-]*\/[a-z0-9.-]*$/.test(account);
  return /^system:serviceaccount:[a-z0-9-]+:[a-z0-9.-]+$/.test(account);
}
