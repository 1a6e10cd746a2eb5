import { getOwn } from '#lib/kubernetes/get-own.ts';
import { codeOf, describeError, systemReasonOf } from '#lib/telemetry/error-text.ts';
import { KubeletStatusError } from './kubelet/kubelet-error.ts';

/** A failed scrape of one node. */
export class ScrapeError extends Error {
  readonly nodeName: string;
  /** The cause, without node and address. */
  readonly reason: string;
  /** Equal for errors of the same cause and address, whose messages may differ in positions, IDs and hints. */
  readonly kind: string;
  /** `host:port`, if the node has an address. */
  readonly address: string | undefined;

  constructor(nodeName: string, cause: unknown, { address }: { readonly address?: string | undefined } = {}) {
    const reason = formatCause(cause);
    const where = address === undefined ? '' : ` at ${address}`;
    super(`Cannot scrape node "${nodeName}"${where}: ${reason}`, { cause });
    this.nodeName = nodeName;
    this.reason = reason;
    this.kind = `${address} ${classifyCause(cause)}`;
    this.address = address;
  }
}

/** In addition to those of {@link systemReasonOf}, or instead of them. */
const MESSAGES: Readonly<Record<string, string>> = {
  ECONNRESET: 'connection reset by the kubelet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an unknown authority',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not yet valid',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS',
};

function formatCause(cause: unknown): string {
  return getOwn(MESSAGES, codeOf(cause) ?? '') ?? systemReasonOf(cause) ?? describeError(cause);
}

/** The code of an error, or the start of its message without details: figures, and text after a colon. */
function classifyCause(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  if (cause instanceof KubeletStatusError) return `HTTP status ${cause.statusCode}`;
  return cause.message.replace(/:.*/s, '').replace(/\d+/g, '0');
}

/** The scrape of a node waited for this process for more than a cycle; says nothing about its kubelet. */
export class NotScrapedError extends Error {
  constructor() {
    super('the scrape waits for more than a cycle: too many TLS handshakes are pending');
  }
}

/** Another node's kubelet responded, as when two nodes share an address; its metrics are discarded. */
export class NodeMismatchError extends Error {
  /** The node that responded. */
  readonly otherNodeName: string;

  constructor(otherNodeName: string) {
    super(`the kubelet of node "${otherNodeName}" responded`);
    this.otherNodeName = otherNodeName;
  }
}
