import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '#lib/time/clock.ts';
import type { KubeletResponse } from '../kubelet-response.ts';

/**
 * One way in which a kubelet misbehaves. A kubelet may have several: of those that take the port or connections
 * the first counts, and responses pass through all in their order.
 */
export interface Fault {
  /** Takes the kubelet's port over, which has been closed before, until the result is disposed. */
  takePort?(endpoint: { readonly address: string; readonly port: number }): Promise<AsyncDisposable>;

  /** Takes a TCP connection over before TLS; the kubelet closes it when it is itself closed. */
  takeConnection?(socket: Socket): void;

  /** Makes of what a healthy kubelet would respond something else. */
  change?(reply: KubeletResponse): KubeletResponse;

  /** Sends the response in a manner of its own. */
  deliver?(reply: KubeletResponse, response: ServerResponse, context: DeliveryContext): Promise<void>;
}

/** What a fault needs to take its time. */
export interface DeliveryContext {
  readonly clock: Clock;
  /** Aborts when the caller is gone or the kubelet closes. */
  readonly signal: AbortSignal;
  /** Breaks the TCP connection so that the caller sees a reset and not an end. */
  resetConnection(): void;
  /** Goes on as if this fault were not there. */
  next(reply: KubeletResponse): Promise<void>;
}
