import { isIPv6 } from 'node:net';
import type { LiveNode } from './node-cache.ts';

/** Where a node's kubelet is asked. */
export interface ScrapeTarget {
  readonly nodeName: string;
  /** A host name or an IP address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Other names by which the node's certificate may know it; absent where none of them will do. */
  readonly knownAs?: readonly string[];
}

/** Why a node's kubelet cannot be asked. */
export interface NoScrapeTarget {
  readonly nodeName: string;
  readonly reason: string;
}

/** How a node's address and port are chosen, as the `--kubelet-…` flags say. */
export interface AddressRules {
  /** Node address types, the most wanted first. */
  readonly preferredAddressTypes: readonly string[];
  readonly port: number;
  /** Whether the port in the node's status, where there is one, counts more than `port`. */
  readonly useNodeStatusPort: boolean;
  /** Whether a certificate will do that names the node or another of its addresses, not the one that is asked. */
  readonly verifyNodeName: boolean;
}

/** Chooses the first address of the most wanted type that the node has. */
export function scrapeTargetOf(node: LiveNode, rules: AddressRules): ScrapeTarget | NoScrapeTarget {
  const { preferredAddressTypes, useNodeStatusPort } = rules;
  const port = (useNodeStatusPort ? node.kubeletPort : undefined) ?? rules.port;
  for (const wanted of preferredAddressTypes) {
    const match = node.addresses.find(({ type, address }) => type === wanted && address !== '');
    if (!match) continue;
    const knownAs = [node.name, ...node.addresses.map(({ address }) => address)].filter(Boolean);
    return { nodeName: node.name, host: match.address, port, ...(rules.verifyNodeName && { knownAs }) };
  }
  return { nodeName: node.name, reason: `no address matched types [${preferredAddressTypes.join(' ')}]` };
}

/** Writes host and port as URLs and log lines do: `10.0.0.7:10250`, `[fd00::7]:10250`. */
export function formatAddress({ host, port }: Pick<ScrapeTarget, 'host' | 'port'>): string {
  return host.includes(':') && isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
