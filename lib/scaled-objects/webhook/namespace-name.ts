const NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Whether a namespace may have this name: a DNS label (RFC 1123), of 63 characters at most. */
export function isNamespaceName(text: string): boolean {
  return NAME.test(text);
}
