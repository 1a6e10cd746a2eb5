import type { ObjectBlock, ServedObject, Watchable } from '#lib/apiserver/resources/served-object.ts';

/** What became of an object: at least one of the two is there. */
export interface ObjectChange {
  readonly before: ServedObject | undefined;
  readonly after: ServedObject | undefined;
}

/** What changed from one state to another, both sorted; by namespace and name. */
export function* objectChanges(
  before: readonly ObjectBlock[],
  after: readonly ObjectBlock[],
  isUnchanged: Watchable['isUnchanged'],
): Generator<ObjectChange, void, void> {
  const [old, current] = [objectsOf(before), objectsOf(after)];
  let [was, is] = [old.next().value, current.next().value];
  while (was || is) {
    const order = was && is ? compare(was, is) : was ? -1 : 1;
    if (order !== 0 || !was || !is || !isUnchanged(was, is)) {
      yield { before: order <= 0 ? was : undefined, after: order >= 0 ? is : undefined };
    }
    if (order <= 0) was = old.next().value;
    if (order >= 0) is = current.next().value;
  }
}

/** One by one: a list of all of them would be held for every watcher that takes its time. */
function* objectsOf(blocks: readonly ObjectBlock[]): Generator<ServedObject, undefined, void> {
  for (const block of blocks) yield* block;
  return undefined;
}

function compare(a: ServedObject, b: ServedObject): number {
  const [left, right] = [a.namespace ?? '', b.namespace ?? ''];
  if (left !== right) return left < right ? -1 : 1;
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}
