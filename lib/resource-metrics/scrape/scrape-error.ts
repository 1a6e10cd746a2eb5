import { getOwn } from '#lib/kubernetes/get-own.ts';
import { codeOf, describeError } from '#lib/telemetry/error-text.ts';
import { KubeletStatusError } from './kubelet/kubelet-error.ts';

/** A node whose usage could not be had in one cycle, and why. */
export class ScrapeError extends Error {
  readonly nodeName: string;
  /** What was wrong, without saying where. */
  readonly reason: string;
  /** The same for the same error at the same place, though the words may differ: positions in a text, ids, hints. */
  readonly kind: string;
  /** `host:port`, where the node has an address. */
  readonly address: string | undefined;

  constructor(nodeName: string, cause: unknown, { address }: { readonly address?: string | undefined } = {}) {
    const reason = inWords(cause);
    const where = address === undefined ? '' : ` at ${address}`;
    super(`Cannot scrape node "${nodeName}"${where}: ${reason}`, { cause });
    this.nodeName = nodeName;
    this.reason = reason;
    this.kind = `${address} ${kindOf(cause)}`;
    this.address = address;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by the kubelet',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'connection timed out',
  EMFILE: 'this process has too many files open',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate was issued by an authority that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate was issued by an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate was issued by an authority that is not trusted here',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS',
};

function inWords(cause: unknown): string {
  return getOwn(WORDS, codeOf(cause) ?? '') ?? describeError(cause);
}

/** An error's code, else the first words of its message: what follows a colon, and figures, are particulars. */
function kindOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  if (cause instanceof KubeletStatusError) return `HTTP status ${cause.statusCode}`;
  return cause.message.replace(/:.*/s, '').replace(/\d+/g, '0');
}

/** A kubelet was not asked in more than a whole cycle: that is our own load, of which the kubelet knows nothing. */
export class NeverAsked extends Error {
  constructor() {
    super('it was not asked for more than a cycle: this process has too many handshakes to do');
  }
}

/** A response by the kubelet of another node than was asked, as where two nodes have one address: its numbers are not ours. */
export class OtherNodesResponse extends Error {
  /** The node that the response is about. */
  readonly otherNodeName: string;

  constructor(otherNodeName: string) {
    super(`the kubelet there is that of node "${otherNodeName}"`);
    this.otherNodeName = otherNodeName;
  }
}
