/**
 * A loopback address that no other process of this machine gets, for a server whose port is fixed.
 *
 * Specs run in several processes, and a process ID has at most 22 bits.
 */
export function ownAddress(): string {
  const { pid } = process;
  return `127.${64 + (pid >> 16)}.${(pid >> 8) & 0xff}.${pid & 0xff}`;
}
