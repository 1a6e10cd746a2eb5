/** Why a name has no address: DNS does not know it, does not respond in time, or fails. */
export type NameLookupCode = 'DNS_NO_SUCH_HOST' | 'DNS_SILENT' | 'DNS_FAILED';

/** A host name without an address. */
export class NameLookupError extends Error {
  readonly code: NameLookupCode;

  constructor(code: NameLookupCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
