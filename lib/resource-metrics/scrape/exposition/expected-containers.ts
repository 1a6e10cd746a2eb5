/** A pod as samples name it. */
export interface ExpectedPod {
  readonly namespace: string;
  readonly name: string;
}

/** A container whose samples are likely to come, as they did in the node's latest exposition. */
export interface ExpectedContainer {
  readonly name: string;
  /** The same object for all containers of a pod. */
  readonly pod: ExpectedPod;
  /** Whether its names stand in a sample as they are, so that comparing them will do. */
  readonly isPlain: boolean;
}

/** What Kubernetes' names are made of, and more, but nothing that is escaped or takes several bytes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Whether a container's names stand in a sample as they are. */
export function mayBeExpected(name: string, pod: ExpectedPod): boolean {
  return PLAIN.test(name) && PLAIN.test(pod.namespace) && PLAIN.test(pod.name);
}

/** Several times as many as nodes have; of one that has more, nothing is remembered. */
const MOST_EXPECTED = 2000;

/** Remembers by node which containers its latest exposition had. */
export class ExpectedContainers {
  readonly #byNode = new Map<string, readonly ExpectedContainer[]>();

  /** In the order of their first samples; none of a node that is new. */
  of(nodeName: string): readonly ExpectedContainer[] {
    return this.#byNode.get(nodeName) ?? [];
  }

  /** Notes what a node has now: where that is the same, what is held stays. */
  note(nodeName: string, found: readonly ExpectedContainer[]): void {
    const held = this.#byNode.get(nodeName);
    const isSame =
      held?.length === found.length && held.every((container, index) => container === found[index]);
    if (found.length > MOST_EXPECTED) this.#byNode.delete(nodeName);
    else if (!isSame) this.#byNode.set(nodeName, found);
  }

  /** Drops what is known of nodes that are gone. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#byNode.keys()) if (!isLive(nodeName)) this.#byNode.delete(nodeName);
  }
}
