const FIRST_BYTES = 256 * 1024;
/** What is longer is rare: it is not held until the next one comes. */
const MOST_KEPT_BYTES = 8 * 1024 * 1024;

let spare: Buffer | undefined;

/**
 * Room to write something in that is copied out of it at the end. Batches are encoded by the dozen after every scrape: room
 * of their own for each would be as much garbage again, of a kind that the collector is slow to find.
 */
export function takeScratch(): Buffer {
  const bytes = spare ?? Buffer.allocUnsafe(FIRST_BYTES);
  spare = undefined; // others may write meanwhile
  return bytes;
}

/** Gives room back, or larger room that it has grown to; nobody may use it any more. */
export function returnScratch(bytes: Buffer): void {
  const isLargest = bytes.length > (spare?.length ?? 0);
  if (isLargest && bytes.length <= MOST_KEPT_BYTES) spare = bytes;
}
