import type { Format, RequestKind } from './scenarios.ts';

/** A kind of request and how its response is to be written. */
export interface FirstRequest {
  readonly kind: RequestKind;
  readonly format: Format;
}

/**
 * What to ask after one cycle and the next, so that each is the first that its response's contents are made for: one
 * request about pods, for what one made another may find, and one about nodes, which have nothing in common with them.
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
