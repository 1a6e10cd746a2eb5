import { describeError } from '#lib/telemetry/error-text.ts';

/** A cause for which a source returns no value, and its remedy. */
export interface SourceFailure {
  readonly cause: string;
  /** Matches the text of errors with this cause. */
  readonly text: RegExp;
  /** KIND, NAMESPACE and NAME are placeholders for the object that configures the source. */
  readonly remedy: string;
}

const EDIT = '`kubectl -n NAMESPACE edit KIND NAME`';

/** Causes in the order in which they are matched: the first that matches is reported; the last matches any. */
export const SOURCE_FAILURES: readonly SourceFailure[] = [
  {
    cause: 'host not allowed',
    text: /--allowed-hosts lists/,
    remedy:
      'Add the host to --allowed-hosts of the autoscaler. A loopback, link-local or metadata address is only allowed if its address or range is listed.',
  },
  {
    cause: 'connection refused',
    text: /connection refused|ECONNREFUSED|no ready endpoint/,
    remedy: `Check that the source runs, and that its Service has ready endpoints: no process listens at the address. If the address is wrong, fix it with ${EDIT}, or in the flag that sets it.`,
  },
  {
    cause: 'host not resolved',
    text: /no such host|from DNS for|cannot look up|has no IPv[46] address/,
    remedy: `Fix the host name with ${EDIT}, or in the flag that sets it. A Service has the name \`service.namespace.svc\`: a short name is resolved in the namespace of the autoscaler. If the name is correct, check that NetworkPolicies allow the autoscaler to query DNS.`,
  },
  {
    cause: 'credentials refused, such as status 401 or 403',
    // A status in parentheses is that of the API server, whose permissions have a check of their own.
    text: /(?<!\()(?:status:?|returned) 40[13]\b|NOAUTH|WRONGPASS|NOPERM|ACCESS[_-]REFUSED|access denied|AccessDenied|InvalidClientTokenId|SignatureDoesNotMatch|authentication failed|authorization violation|permission denied for|pg_hba\.conf| alert (?:certificate required|bad certificate|certificate unknown|unknown ca)\b/i,
    remedy:
      'Fix the credentials in the authentication that KIND NAME refers to, or in the file or flag that sets them, or grant them access to what the query reads. Changed Secrets are read again without a restart.',
  },
  {
    cause: 'TLS certificate not trusted',
    text: /certificate|altnames/i,
    remedy:
      'Configure the CA that issued the certificate of the source: in the authentication of a trigger, the parameter `ca`; otherwise the flag --source-tls of the autoscaler. Use a host name that the certificate contains, and renew an expired certificate.',
  },
  {
    cause: 'no response in time',
    text: /no (?:response|value|connection) within|timed out|timeout error|no route to the host|network unreachable/i,
    remedy:
      'Check that the source runs, that NetworkPolicies and firewalls allow the autoscaler to connect to its address and port, and that the query is fast enough.',
  },
  {
    cause: 'no such queue, or an empty result',
    text: /returned no (?:result|value)|no rows in result set|not found|no value|non-?existent|does not exist|doesn't exist|is empty$|matches no value|no queue|NOT_FOUND|(?:status:?|returned) 404\b|NULL in column/i,
    remedy: `Fix the name, path or query of the finding with ${EDIT}: the source responds, but has no such value. Run the query by hand to compare.`,
  },
  {
    cause: 'another cause',
    text: /(?:)/,
    remedy: `If the source returned an error, fix the query with ${EDIT}, or fix the credentials. If the connection failed, check that the source runs, and that NetworkPolicies allow the autoscaler to connect.`,
  },
];

/** The remedy for an error of a source, by its cause; KIND, NAMESPACE and NAME are placeholders. */
export function findSourceRemedy(error: unknown): string {
  const text = describeError(error);
  return SOURCE_FAILURES.find((failure) => failure.text.test(text))?.remedy ?? '';
}
