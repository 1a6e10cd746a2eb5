import type { FaultInput } from '#simulator/kubelet/faults.ts';
import type { CertificateKind } from '#simulator/kubelet/serving-certificate.ts';
import type { SimulatedCluster } from '#simulator/simulated-cluster.ts';

/** A fault of one kubelet, and the expected reports of it. */
export interface KubeletFaultCase {
  readonly name: string;
  /** The reason in the log. */
  readonly reason: RegExp;
  /** Whether the scrape ends at a deadline. */
  readonly takesTime: boolean;
  inject(cluster: SimulatedCluster, nodeName: string): Promise<void>;
}

const LATE = /no complete response within 10s/;
const TOO_LONG = /larger than 16Mi/;
const NO_JSON = /not valid JSON/;

/** Every fault in which a kubelet returns no usable response, except changes of its address. */
export const KUBELET_FAULT_CASES: readonly KubeletFaultCase[] = [
  fault('refuses connections', 'refuse', /connection refused/),
  slow('is behind a network that drops SYNs', 'black-hole', /no connection within 3s/),
  slow('accepts and is silent', 'hang', /no TLS handshake within 3s/),
  fault('hangs up in the handshake', 'hang-up', /closed the connection during the TLS|reset by the kubelet/),
  fault('speaks no TLS', 'break-tls', /does not speak TLS/),
  slow('drips one byte a second', { dripBytesPerSecond: 1 }, LATE),
  slow('sends headers and then nothing', 'stall', LATE),
  fault('sends a body without end', 'endless', TOO_LONG),
  fault('sends a body of 100 MB', { bodyBytes: 100_000_000 }, TOO_LONG),
  fault('breaks off its JSON', 'truncate', NO_JSON),
  fault('responds with something else', 'garbage', NO_JSON),
  fault('spoils its text with NUL bytes and broken UTF-8', 'spoiled-text', NO_JSON),
  fault('mixes up types', 'wrong-types', /no metrics; ignored: a pod without name or namespace/),
  fault('nests five million levels deep', { nestingLevels: 5_000_000 }, /nesting exceeds 32 levels/),
  fault(
    'sends a gzip bomb of 1 GiB, unasked',
    { gzipBombMebibytes: 1024 },
    /unsupported content encoding: gzip/,
  ),
  fault(
    'redirects',
    { status: 301, headers: { Location: 'https://127.0.0.1:1/stats/summary' } },
    /HTTP status 301/,
  ),
  ...[401, 403, 404, 429, 500, 503].map((status) =>
    fault(`responds with ${status}`, { status }, new RegExp(`HTTP status ${status}`)),
  ),
  fault('resets the connection in mid-body', 'reset-mid-body', /reset by the kubelet|closed the connection/),
  certificate('expired', /certificate has expired/),
  certificate('not-yet-valid', /certificate is not yet valid/),
  certificate('self-signed', /self-signed|not trusted/),
  certificate('other-name', /certificate is valid for another-node, not for/),
];

/** Removes the fault of any case. */
export async function heal(cluster: SimulatedCluster, nodeName: string): Promise<void> {
  cluster.setCertificate(nodeName, 'valid');
  await restart(cluster, nodeName);
}

function fault(name: string, input: FaultInput, reason: RegExp): KubeletFaultCase {
  return { name, reason, takesTime: false, inject: (cluster, nodeName) => cluster.setFault(nodeName, input) };
}

function slow(name: string, input: FaultInput, reason: RegExp): KubeletFaultCase {
  return { ...fault(name, input, reason), takesTime: true };
}

/** Restarts the kubelet with another certificate, so that the next connection gets it. */
function certificate(kind: CertificateKind, reason: RegExp): KubeletFaultCase {
  return {
    name: `shows a certificate that is ${kind}`,
    reason,
    takesTime: false,
    inject: async (cluster, nodeName) => {
      cluster.setCertificate(nodeName, kind);
      await restart(cluster, nodeName);
    },
  };
}

/** Breaks every connection to a kubelet and makes it healthy. */
export async function restart(cluster: SimulatedCluster, nodeName: string): Promise<void> {
  await cluster.setFault(nodeName, 'refuse');
  await cluster.setFault(nodeName);
}
