/**
 * Respectively: the name does not exist, DNS does not respond in time, DNS fails, the tenant's share of queries is
 * used up.
 */
export type NameLookupCode = 'DNS_NO_SUCH_HOST' | 'DNS_SILENT' | 'DNS_FAILED' | 'DNS_BUSY';

export class NameLookupError extends Error {
  readonly code: NameLookupCode;

  constructor(code: NameLookupCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
