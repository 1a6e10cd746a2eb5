import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { ObjectBlock } from './served-object.ts';

/** By value of one label, where in a block the objects are that have it, in their order. */
type Places = ReadonlyMap<string, readonly number[]>;

/** Fewer are looked through sooner than an index is made. */
const FEWEST_INDEXED = 100;

/** Autoscalers ask by one or two labels; for any others everything is looked through. */
const MOST_KEYS = 8;

const INDEXES = new WeakMap<ObjectBlock, Map<string, Places>>();

/**
 * Where in a block the objects are that a selector may match, in their order; `undefined` for anywhere.
 *
 * Goes by the first requirement that names values; the caller has to look at the others.
 */
export function placesByLabel(block: ObjectBlock, selector: LabelSelector): readonly number[] | undefined {
  if (block.length < FEWEST_INDEXED) return undefined;
  const requirement = selector.requirements.find(({ operator }) => ['=', '==', 'in'].includes(operator));
  const index = requirement && indexOf(block, requirement.key);
  if (!requirement || !index) return undefined;
  const places = requirement.values.map((value) => index.get(value) ?? []);
  return places.length === 1 ? places[0] : places.flat().sort((a, b) => a - b);
}

function indexOf(block: ObjectBlock, key: string): Places | undefined {
  const indexes = INDEXES.get(block) ?? new Map<string, Places>();
  INDEXES.set(block, indexes);
  const known = indexes.get(key);
  if (known || indexes.size >= MOST_KEYS) return known;
  const index = new Map<string, number[]>();
  block.forEach(({ labels }, place) => {
    const value = getOwn(labels, key);
    if (value === undefined) return;
    const places = index.get(value);
    if (places) places.push(place);
    else index.set(value, [place]);
  });
  indexes.set(key, index);
  return index;
}
