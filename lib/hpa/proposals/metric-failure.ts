/** Why a metric proposes no replicas, in the words of Kubernetes' controller where it knows the case. */
export class MetricFailure extends Error {
  /** Set where Kubernetes' controller would have gone on with a number that depends on the processor. */
  readonly isRefusal: boolean;

  constructor(message: string, { isRefusal = false }: { readonly isRefusal?: boolean } = {}) {
    super(message);
    this.name = 'MetricFailure';
    this.isRefusal = isRefusal;
  }
}

/** A selector of a metric that cannot be used: nothing is read or compared then. */
export class SelectorFailure extends MetricFailure {}
