/** How long pieces are that follow one another, in bytes. */
export function bytesOf(pieces: readonly Buffer[]): number {
  let bytes = 0;
  for (const piece of pieces) bytes += piece.length;
  return bytes;
}

/** Pieces that follow one another as one; a single one is not copied. */
export function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first && pieces.length === 1 ? first : Buffer.concat(pieces);
}
