const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Whether a text is a DNS label (RFC 1123) of 63 characters at most, as names of namespaces and Services are. */
export function isDnsLabel(text: string): boolean {
  return LABEL.test(text);
}
