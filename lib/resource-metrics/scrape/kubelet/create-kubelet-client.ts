import { Semaphore } from '#lib/concurrency/semaphore.ts';
import { NameResolver } from '#lib/dns/name-resolver.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { Dialer } from './dialer.ts';
import { KubeletClient } from './kubelet-client.ts';
import { type KubeletTrust, openKubeletCredentials } from './kubelet-credentials.ts';

/** How kubelets are asked, as the flags say. */
export interface KubeletConnectionOptions extends KubeletTrust {
  readonly dialTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** A longer response is refused. */
  readonly maxResponseBytes: number;
  /** Whether to ask in plain text, without credentials. */
  readonly completelyInsecure: boolean;
}

/** Asks kubelets. */
export type CreatedKubeletClient = Pick<KubeletClient, 'get' | 'retain'> & AsyncDisposable;

/** More at once would make kubelets look slow and hold up everybody else: each costs 1 to 2 ms of our own CPU, in one piece. */
const HANDSHAKES_AT_ONCE = 16;

/** What asking kubelets needs from outside. */
export interface KubeletConnectionEnvironment {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Puts together what asks kubelets.
 *
 * @throws naming the flags and files that cannot be used
 */
export async function createKubeletClient(
  options: KubeletConnectionOptions,
  { access, clock, logger }: KubeletConnectionEnvironment,
): Promise<CreatedKubeletClient> {
  await using creating = new AsyncDisposableStack();
  const { completelyInsecure, dialTimeoutMs, requestTimeoutMs, maxResponseBytes } = options;
  const resolver = NameResolver.ofSystem({ clock, timeoutMs: dialTimeoutMs });
  warnOfInsecurity(options, logger);
  const credentials = completelyInsecure
    ? undefined
    : creating.use(await openKubeletCredentials(options, { access, clock, logger }));
  const handshakes = new Semaphore(HANDSHAKES_AT_ONCE);
  const dialer = new Dialer({
    clock,
    resolver,
    handshakes,
    tls: credentials && (() => credentials.tls()),
    dialTimeoutMs,
  });
  const client = new KubeletClient({
    clock,
    dialer,
    authorization: async () => (completelyInsecure ? undefined : await access.authorization()),
    requestTimeoutMs,
    maxResponseBytes,
  });
  creating.use(client);
  const created = creating.move();
  return {
    get: (target, path, request) => client.get(target, path, request),
    retain: (addresses) => client.retain(addresses),
    [Symbol.asyncDispose]: () => created.disposeAsync(),
  };
}

function warnOfInsecurity(options: KubeletConnectionOptions, logger: Logger): void {
  if (options.completelyInsecure) {
    logger.warning('KUBELETS ARE ASKED IN PLAIN TEXT: anybody on the way can read and change what they say', {
      flag: '--deprecated-kubelet-completely-insecure',
    });
  } else if (options.insecureTls) {
    logger.warning(
      'KUBELETS ARE NOT VERIFIED: anyone who responds at their addresses is sent our credentials, and believed',
      { flag: '--kubelet-insecure-tls' },
    );
  }
}
