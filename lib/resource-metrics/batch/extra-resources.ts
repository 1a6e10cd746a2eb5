/** What kubelets tell of beside CPU and memory, by its name in a usage. */
export type ExtraResource = 'ephemeral-storage' | 'swap';

/** Those that somebody asked for. */
export type ExtraResources = ReadonlySet<ExtraResource>;

/** Bytes in use of each that was asked for; one that the kubelet does not know is missing, for 0 says that there is none in use. */
export type ExtraBytes = Readonly<Partial<Record<ExtraResource, number>>>;
