/** How long each file of specs took, in milliseconds, by its path. */
export type Durations = Readonly<Record<string, number>>;

/** What loading a file takes beside its specs, and what a file takes of which nothing is measured, in milliseconds. */
const LOADING_MS = 40;
const UNMEASURED_MS = 300;

/**
 * Deals files to processes so that all end at about the same time: the longest first, each to the process that has the
 * least to do. Each process has its files in the order in which they are given.
 */
export function deal(
  files: readonly string[],
  { processes, durations }: { readonly processes: number; readonly durations: Durations },
): string[][] {
  const weight = (file: string) =>
    LOADING_MS + (Object.hasOwn(durations, file) ? (durations[file] ?? 0) : UNMEASURED_MS);
  const shares = Array.from({ length: processes }, () => ({ files: new Set<string>(), totalMs: 0 }));
  for (const file of [...files].sort((one, other) => weight(other) - weight(one))) {
    const share = shares.reduce((least, next) => (next.totalMs < least.totalMs ? next : least));
    share.files.add(file);
    share.totalMs += weight(file);
  }
  return shares.map((share) => files.filter((file) => share.files.has(file)));
}
