import type { Format, RequestKind } from './scenarios.ts';

/** A kind of request, and the format of its response. */
export interface FirstRequest {
  readonly kind: RequestKind;
  readonly format: Format;
}

/**
 * Plans requests for two successive cycles, such that each is the first for which the server computes the response's
 * contents: one for pods, because requests for pods share contents, and one for nodes, which share none with pods.
 */
export function planFirstRequests(
  kinds: readonly RequestKind[],
  formats: readonly Format[],
): readonly (readonly FirstRequest[])[] {
  const all = kinds.flatMap((kind) => formats.map((format) => ({ kind, format })));
  const ofNodes = all.filter(({ kind }) => kind.about === 'nodes');
  const ofPods = all.filter(({ kind }) => kind.about === 'pods');
  return Array.from({ length: Math.max(ofNodes.length, ofPods.length) }, (_, cycle) =>
    [ofPods[cycle], ofNodes[cycle]].filter((one) => one !== undefined),
  );
}
