/** What this program keeps of a running Pod; the same object for as long as none of it changes. */
export interface LivePod {
  readonly namespace: string;
  readonly name: string;
  /**
   * The UID by which its kubelet knows it: of a static pod the hash of its manifest, which is not the UID of the mirror pod
   * that stands for it in the API.
   */
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The running pods that the API server knows, kept current by a metadata-only watch. */
export interface LivePods {
  /** Whether the first list has been read completely. */
  readonly isSynced: boolean;
  /** Another number whenever something of it has changed. */
  readonly revision: number;
  get(namespace: string, name: string): LivePod | undefined;
  /** @param key `NAMESPACE/NAME`; a lookup by it is quicker */
  find(key: string): LivePod | undefined;
  values(): Iterable<LivePod>;
}
