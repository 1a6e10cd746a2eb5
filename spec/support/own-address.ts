/**
 * A loopback address that no other process of this machine is given: for a server at a port that it cannot choose.
 *
 * Specs run in several processes, and a process number is at most 22 bits long.
 */
export function ownAddress(): string {
  const { pid } = process;
  return `127.${64 + (pid >> 16)}.${(pid >> 8) & 0xff}.${pid & 0xff}`;
}
