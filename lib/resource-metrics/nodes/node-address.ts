import { isIPv6 } from 'node:net';
import type { LiveNode } from './node-cache.ts';

/** The address of a node's kubelet. */
export interface ScrapeTarget {
  readonly nodeName: string;
  /** A host name or an IP address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Other names accepted in its certificate; absent if only `host` is. */
  readonly alternativeNames?: readonly string[];
}

/** Why a node has no target. */
export interface NoScrapeTarget {
  readonly nodeName: string;
  readonly reason: string;
}

/** Options of the `--kubelet-…` flags that choose address and port. */
export interface AddressRules {
  /** In order of preference. */
  readonly preferredAddressTypes: readonly string[];
  readonly port: number;
  /** Whether the port in the node's status, if any, takes precedence. */
  readonly useNodeStatusPort: boolean;
  /** Whether the certificate may name the node or another of its addresses. */
  readonly verifyNodeName: boolean;
}

/** Chooses the first address of the most preferred type that the node has. */
export function chooseScrapeTarget(node: LiveNode, rules: AddressRules): ScrapeTarget | NoScrapeTarget {
  const { preferredAddressTypes, useNodeStatusPort } = rules;
  const port = (useNodeStatusPort ? node.kubeletPort : undefined) ?? rules.port;
  for (const preferred of preferredAddressTypes) {
    const match = node.addresses.find(({ type, address }) => type === preferred && address !== '');
    if (!match) continue;
    const alternativeNames = [node.name, ...node.addresses.map(({ address }) => address)].filter(Boolean);
    return {
      nodeName: node.name,
      host: match.address,
      port,
      ...(rules.verifyNodeName && { alternativeNames }),
    };
  }
  return { nodeName: node.name, reason: `no address matched types [${preferredAddressTypes.join(' ')}]` };
}

/** Formats `10.0.0.7:10250` or `[fd00::7]:10250`. */
export function formatAddress({ host, port }: Pick<ScrapeTarget, 'host' | 'port'>): string {
  return host.includes(':') && isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
