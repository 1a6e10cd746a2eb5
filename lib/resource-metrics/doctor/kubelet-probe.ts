import type { X509Certificate } from 'node:crypto';
import net from 'node:net';
import tls from 'node:tls';
import type { MetricsBatch, ResponseTimes } from '#lib/resource-metrics/metrics-batch.ts';
import {
  type AddressRules,
  chooseScrapeTarget,
  formatAddress,
  type NoScrapeTarget,
  type ScrapeTarget,
} from '#lib/resource-metrics/nodes/node-address.ts';
import type { LiveNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import { EndpointChoice, type EndpointPolicy } from '#lib/resource-metrics/scrape/endpoint-choice.ts';
import type { KubeletClient } from '#lib/resource-metrics/scrape/kubelet/kubelet-client.ts';
import { KubeletStatusError } from '#lib/resource-metrics/scrape/kubelet/kubelet-error.ts';
import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import { NodeMismatchError, ScrapeError } from '#lib/resource-metrics/scrape/scrape-error.ts';
import { codeOf } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** The result of scraping one kubelet as the server does. */
export interface KubeletProbe {
  readonly node: LiveNode;
  readonly target: ScrapeTarget | NoScrapeTarget;
  /** In order; empty for a node without an address. */
  readonly attempts: readonly KubeletAttempt[];
  /** `undefined` for a node without an address, and for plain HTTP. */
  readonly inspection: Inspection | undefined;
}

/** One request to a kubelet. */
interface KubeletAttempt {
  readonly endpoint: string;
  /** Wall clock time; also the time of samples that have none. */
  readonly endedAtMs: number;
  readonly outcome: AttemptOutcome;
}

export type AttemptOutcome =
  | { readonly kind: 'responded'; readonly batch: MetricsBatch }
  | { readonly kind: 'unreadable'; readonly because: string }
  /** The response exceeds a limit. */
  | { readonly kind: 'excessive'; readonly because: string }
  /** Another node's kubelet responded. */
  | { readonly kind: 'misdirected'; readonly because: string; readonly otherNodeName: string }
  | { readonly kind: 'refused'; readonly statusCode: number; readonly because: string }
  /** Certificate verification failed. The code is Node's, or that of {@link KubeletIdentityError}. */
  | { readonly kind: 'untrusted'; readonly because: string; readonly code: string }
  /** Any other failure; the code is the error's, if it has one. */
  | { readonly kind: 'failed'; readonly because: string; readonly code: string | undefined };

interface KubeletProbeOptions {
  readonly client: Pick<KubeletClient, 'get'>;
  readonly clock: Clock;
  readonly rules: AddressRules;
  readonly policy: EndpointPolicy;
  readonly isPlainText: boolean;
  readonly dialTimeoutMs: number;
}

/** Scrapes one kubelet and inspects its certificate. */
export async function probeKubelet(
  node: LiveNode,
  options: KubeletProbeOptions,
  signal: AbortSignal,
): Promise<KubeletProbe> {
  const target = chooseScrapeTarget(node, options.rules);
  if ('reason' in target) return { node, target, attempts: [], inspection: undefined };
  const { clock, isPlainText, dialTimeoutMs: timeoutMs } = options;
  const [attempts, inspection] = await Promise.all([
    attemptAll(node, target, options, signal),
    isPlainText ? undefined : inspectCertificate(target, { clock, timeoutMs, signal }),
  ]);
  return { node, target, attempts, inspection };
}

async function attemptAll(
  node: LiveNode,
  target: ScrapeTarget,
  { client, clock, policy }: KubeletProbeOptions,
  signal: AbortSignal,
): Promise<readonly KubeletAttempt[]> {
  const attempts: KubeletAttempt[] = [];
  const choice = new EndpointChoice(policy, clock);
  const scraped = choice.request(node, async ({ path, decode }) => {
    const note = (outcome: AttemptOutcome, endedAtMs = clock.nowMs()) =>
      attempts.push({ endpoint: path.split('?', 1)[0] ?? path, endedAtMs, outcome });
    const read = (body: Buffer, times: ResponseTimes) => {
      const receivedAtWallMs = clock.nowMs();
      try {
        const batch = decode(body, { nodeName: node.name, ...times, receivedAtWallMs });
        note({ kind: 'responded', batch }, receivedAtWallMs);
      } catch (error) {
        note(unreadable(error, node.name, target));
      }
    };
    try {
      await client.get(target, path, { signal, read });
    } catch (error) {
      note(classifyError(error, node.name, target));
      throw error;
    }
  });
  await scraped.catch(() => {}); // recorded as an attempt
  return attempts;
}

function unreadable(error: unknown, nodeName: string, target: ScrapeTarget): AttemptOutcome {
  const because = describeReason(error, nodeName, target);
  if (error instanceof NodeMismatchError)
    return { kind: 'misdirected', because, otherNodeName: error.otherNodeName };
  return { kind: isExcessive(error) ? 'excessive' : 'unreadable', because };
}

/** A response rejected for the memory that others use is not excessive by itself. */
function isExcessive(error: unknown): boolean {
  return error instanceof ExcessiveResponse && error.bound !== 'memory';
}

const CERTIFICATE_ERRORS = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|INVALID_(CA|PURPOSE)|ERR_TLS_CERT)/;

function classifyError(error: unknown, nodeName: string, target: ScrapeTarget): AttemptOutcome {
  const because = describeReason(error, nodeName, target);
  if (error instanceof KubeletStatusError) return { kind: 'refused', statusCode: error.statusCode, because };
  if (isExcessive(error)) return { kind: 'excessive', because };
  const code = codeOf(error);
  if (code !== undefined && CERTIFICATE_ERRORS.test(code)) return { kind: 'untrusted', because, code };
  return { kind: 'failed', because, code };
}

function describeReason(error: unknown, nodeName: string, target: ScrapeTarget): string {
  return new ScrapeError(nodeName, error, { address: formatAddress(target) }).reason;
}

/** The state of a connection opened to inspect the certificate. */
interface Inspection {
  readonly isConnected: boolean;
  /** `undefined` if the handshake did not complete. */
  readonly certificate: X509Certificate | undefined;
}

/**
 * Reads a server's certificate without verifying it; sends no credentials.
 *
 * @param timeoutMs limits connection and handshake together
 */
async function inspectCertificate(
  { host, port }: { readonly host: string; readonly port: number },
  {
    clock,
    timeoutMs,
    signal,
  }: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Inspection> {
  const expired = () => new Error(`no certificate within ${formatDuration(timeoutMs)}`);
  using deadline = startDeadline(clock, timeoutMs, { signal, expired });
  const servername = net.isIP(host) === 0 ? { servername: host } : {};
  const socket = tls.connect({ host, port, ...servername, rejectUnauthorized: false });
  let isConnected = false;
  const abort = () => socket.destroy(deadline.signal.reason);
  deadline.signal.addEventListener('abort', abort, { once: true });
  return await new Promise((resolve) => {
    const finish = (certificate?: X509Certificate) => {
      socket.destroy();
      resolve({ isConnected, certificate });
    };
    socket.once('connect', () => {
      isConnected = true;
    });
    socket.once('secureConnect', () => finish(socket.getPeerX509Certificate()));
    socket.on('error', () => finish());
    socket.once('close', () => finish());
  });
}
