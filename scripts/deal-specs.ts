/** Duration of each spec file in milliseconds, by its path. */
export type Durations = Readonly<Record<string, number>>;

/** Duration of loading a file, and estimated duration of a file without a measurement, in milliseconds. */
const LOADING_MS = 40;
const UNMEASURED_MS = 300;

/**
 * Distributes files to processes so that all end at about the same time: the longest first, each to the process with
 * the least total. Each process runs its files in the given order.
 */
export function deal(
  files: readonly string[],
  { processes, durations }: { readonly processes: number; readonly durations: Durations },
): string[][] {
  const weight = (file: string) =>
    LOADING_MS + (Object.hasOwn(durations, file) ? (durations[file] ?? 0) : UNMEASURED_MS);
  const shares = Array.from({ length: processes }, () => ({ files: new Set<string>(), totalMs: 0 }));
  for (const file of [...files].sort((one, other) => weight(other) - weight(one))) {
    const share = shares.reduce((smallest, next) => (next.totalMs < smallest.totalMs ? next : smallest));
    share.files.add(file);
    share.totalMs += weight(file);
  }
  return shares.map((share) => files.filter((file) => share.files.has(file)));
}
