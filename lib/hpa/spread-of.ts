/**
 * A number in [0, 1) that a text has for good, and that is far from those of texts like it: `team-1` and `team-2` are not to
 * be looked at together.
 */
export function spreadOf(text: string): number {
  let hash = 0x811c9dc5; // FNV-1a
  for (let place = 0; place < text.length; place++)
    hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
  // Its last characters change few bits; the last steps of MurmurHash3 spread them over all.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
