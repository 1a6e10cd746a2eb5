/** Why a name has no address: DNS has none, does not respond in time, fails, or is not queried because the share is used up. */
export type NameLookupCode = 'DNS_NO_SUCH_HOST' | 'DNS_SILENT' | 'DNS_FAILED' | 'DNS_BUSY';

/** A host name without an address. */
export class NameLookupError extends Error {
  readonly code: NameLookupCode;

  constructor(code: NameLookupCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
