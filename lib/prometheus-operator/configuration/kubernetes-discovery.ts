import type { NamespaceSelector } from '../objects/common-fields.ts';
import type { Declared, DeclaredKind } from '../objects/declared-object.ts';
import { within } from '../objects/refusal.ts';
import { type Block, block } from './block.ts';
import type { ConfigurationContext } from './configuration-context.ts';
import { writeAuthentication, writeProxy, writeTls } from './credentials.ts';
import { supports } from './version-gates.ts';

/** A role of Prometheus' discovery in Kubernetes. */
export type DiscoveryRole = 'pod' | 'endpoints' | 'endpointslice' | 'service' | 'ingress' | 'node';

interface Discovery {
  readonly role: DiscoveryRole;
  /** Undefined for all namespaces. */
  readonly namespaces: readonly string[] | undefined;
  /** Whether targets get the labels of their nodes. */
  readonly attachesNode?: boolean | undefined;
  readonly selectors?: readonly Block[];
}

/** Discovers targets of an object in Kubernetes, by the API server that the Prometheus names. */
export function writeDiscovery(discovery: Discovery, context: ConfigurationContext): Block {
  const { role, namespaces, selectors } = discovery;
  return block({
    role,
    namespaces: namespaces && { names: namespaces },
    ...writeApiServer(context),
    attach_metadata: attachMetadata(role, discovery.attachesNode, context),
    selectors,
  });
}

/** Whether targets of a role get the labels of their nodes; absent if the version cannot do it. */
export function attachMetadata(
  role: DiscoveryRole,
  attachesNode: boolean | undefined,
  { version }: ConfigurationContext,
): Block | undefined {
  const feature = role === 'pod' ? 'attach_metadata of pods' : 'attach_metadata of endpoints';
  return attachesNode === undefined || !supports(feature, version) ? undefined : { node: attachesNode };
}

function writeApiServer({ prometheus, references }: ConfigurationContext): Block {
  const { apiserverConfig } = prometheus.spec;
  if (apiserverConfig === undefined) return {};
  const own = references(prometheus.namespace);
  return within('apiserverConfig', () => ({
    api_server: apiserverConfig.host,
    ...writeAuthentication(apiserverConfig, own),
    tls_config: apiserverConfig.tlsConfig && writeTls(apiserverConfig.tlsConfig, own),
    ...writeProxy(apiserverConfig, own),
  }));
}

/** Namespaces in which an object discovers targets; `undefined` for all. */
export function discoveredNamespaces(
  selector: NamespaceSelector | undefined,
  { namespace }: Declared<DeclaredKind>,
  { prometheus }: ConfigurationContext,
): readonly string[] | undefined {
  const { any, matchNames = [] } = selector ?? {};
  if (prometheus.spec.ignoreNamespaceSelectors) return [namespace];
  if (any) return undefined;
  return matchNames.length > 0 ? matchNames : [namespace];
}
