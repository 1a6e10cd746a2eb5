import { type Interner, stringInterner } from '#lib/cache/interner.ts';
import type { ExtraResources } from '#lib/resource-metrics/metrics-batch.ts';

/** How a kubelet's response is decoded. */
export interface DecodeOptions {
  /** What is to be read beside CPU and memory. */
  readonly extras?: ExtraResources;
  /** Of namespaces and containers, which many pods share. */
  readonly names?: Interner<string>;
}

/** As many namespaces and names of containers as are held once; Kubernetes allows none that is longer. */
const SHARED_NAMES = { capacity: 10_000, longestKey: 253 };

/** For all decoders of one program. */
export function nameInterner(): Interner<string> {
  return stringInterner(SHARED_NAMES);
}

/** Which node a response comes from, when it was requested and when it had come in, on our monotonic clock. */
export interface ResponseOrigin {
  readonly nodeName: string;
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
}

/** The same with the time by our wall clock: of that time are samples on which a kubelet puts none. */
export interface TimedResponseOrigin extends ResponseOrigin {
  readonly receivedAtWallMs: number;
}
