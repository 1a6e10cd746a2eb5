import type { X509Certificate } from 'node:crypto';
import net from 'node:net';
import tls from 'node:tls';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** How far one came with a server that is asked for its certificate. */
export interface Inspection {
  readonly isConnected: boolean;
  /** `undefined` when the handshake was not completed. */
  readonly certificate: X509Certificate | undefined;
}

/**
 * Looks at the certificate that a server shows, no matter who signed it: nothing is sent that would prove who we are.
 *
 * @param timeoutMs bounds connecting and handshake together
 */
export async function inspectCertificate(
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
