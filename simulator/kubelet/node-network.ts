/**
 * The loopback address of a node: all of 127.0.0.0/8 is this machine, so every kubelet can have an address of its
 * own and all of them the same port.
 *
 * @param ordinal 1 for the first node, 127.1.0.1
 */
export function nodeAddress(ordinal: number): string {
  return `127.${1 + (ordinal >> 16)}.${(ordinal >> 8) & 0xff}.${ordinal & 0xff}`;
}
