import type { AnyNode, Node } from 'acorn';

/** A node and all its descendants. */
export function* nodesOf(node: Node): Generator<AnyNode> {
  yield node as AnyNode;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === 'string') yield* nodesOf(child);
    }
  }
}
