import type { AddressInfo, Server } from 'node:net';
import { getOwn } from '#lib/kubernetes/get-own.ts';

/** Where to listen. */
export interface ListenAddress {
  readonly bindAddress: string;
  /** 0 for any that is free. */
  readonly port: number;
}

const ANY_ADDRESS = ['0.0.0.0', '::', '::0', ''];
const WITHOUT_IPV6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];

/**
 * Starts to accept connections. An address that is unspecified means every address of both families, as in Go;
 * where the machine has no IPv6, of IPv4 alone.
 *
 * @throws when the address cannot be listened at
 */
export async function listen(server: Server, { bindAddress, port }: ListenAddress): Promise<AddressInfo> {
  try {
    return await listenAt(server, ANY_ADDRESS.includes(bindAddress) ? '::' : bindAddress, port);
  } catch (error) {
    const isWithoutIpv6 = ANY_ADDRESS.includes(bindAddress) && WITHOUT_IPV6.includes(codeOf(error));
    if (isWithoutIpv6) return await listenAt(server, '0.0.0.0', port);
    throw new Error(`Cannot listen at ${bindAddress}:${port}: ${reasonOf(error)}`, { cause: error });
  }
}

function listenAt(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo); // a port's, for no pipe was asked for
    });
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is already in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'permission denied',
};

function reasonOf(error: unknown): string {
  return getOwn(REASONS, codeOf(error)) ?? (error instanceof Error ? error.message : String(error));
}
