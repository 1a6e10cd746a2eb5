import type { Html } from './html.ts';

/** Makes manifests of one kind from a form. It reads, and never writes. */
export interface Composer {
  /** In the address: `?kind=hpa`. */
  readonly kind: string;
  readonly title: string;
  /** Renders the form with the values of the query, by code that is loaded on the first call: it takes memory. */
  compose(query: URLSearchParams, work: ComposerWork): Promise<Composition>;
}

/** What the work for one page can use, and its limits. */
export interface ComposerWork {
  readonly signal: AbortSignal;
  readonly nowMs: number;
  /** Whether a flag names the Prometheus server of queries that name none. */
  readonly hasPrometheusServer: boolean;
  /**
   * Waits for the turn of the user; a few milliseconds of synchronous work may follow.
   *
   * @throws the reason of the signal
   */
  turn(): Promise<void>;
  /** Checks the target of a scaled object. @returns why it cannot be scaled, or checked; `undefined` if it can be scaled */
  checkTarget(target: ComposedTarget): Promise<string | undefined>;
}

/** The object that a composed one scales. */
export interface ComposedTarget {
  readonly namespace: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

export interface Composition {
  readonly fields: Html;
  /** Of no single field. */
  readonly problems: readonly string[];
  /** What is unusual, and may be intended. */
  readonly warnings: readonly string[];
  /** The object, in the order of its YAML; `undefined` while the form has problems. */
  readonly manifest: object | undefined;
  /** What the object would do; absent while the form has problems. */
  readonly preview?: Html | undefined;
}
