import type { ListMeta } from '#lib/apiserver/encoding/object-meta.ts';
import { formatContinueToken, type ObjectPosition } from './continue-token.ts';
import { countSelected, type Selection, takeSelected } from './selection.ts';
import type { ServedObject } from './served-object.ts';

/** One page of what is selected, and what the list says of the rest. */
export interface Page {
  readonly selection: Selection;
  readonly metadata: Pick<ListMeta, 'continue' | 'remainingItemCount'>;
}

/**
 * Cuts the first page off.
 *
 * @param limit 0 for everything
 * @param tellsRemaining whether the number of the remaining objects is told: Kubernetes does so where nothing was
 *   selected away
 */
export function cutPage(
  selection: Selection,
  { limit, tellsRemaining }: { readonly limit: number; readonly tellsRemaining: boolean },
): Page {
  const remaining = limit > 0 ? countSelected(selection) - limit : 0;
  if (remaining <= 0) return { selection, metadata: {} };
  const page = takeSelected(selection, limit);
  const last = lastSelected(page);
  return {
    selection: page,
    metadata: {
      ...(last && { continue: formatContinueToken(last) }),
      ...(tellsRemaining && { remainingItemCount: remaining }),
    },
  };
}

function lastSelected(selection: Selection): ObjectPosition | undefined {
  const { block, ranges } = selection.at(-1) ?? {};
  const last: ServedObject | undefined = block?.[(ranges?.at(-1)?.end ?? 0) - 1];
  return last && { namespace: last.namespace ?? '', name: last.name };
}
