import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { ObjectBatch } from './served-object.ts';

/** By value of one label, where in a batch the objects are that have it, in their order. */
type Places = ReadonlyMap<string, readonly number[]>;

/** Fewer are looked through sooner than an index is made. */
const FEWEST_INDEXED = 100;

/** Autoscalers ask by one or two labels; whoever asks by any number of others has everything looked through. */
const MOST_KEYS = 8;

const INDEXES = new WeakMap<ObjectBatch, Map<string, Places>>();

/**
 * Where in a batch the objects are that a selector may match, in their order; `undefined` for anywhere.
 *
 * Goes by the first requirement that names values; whoever asks has to look at the others.
 */
export function placesByLabel(batch: ObjectBatch, selector: LabelSelector): readonly number[] | undefined {
  if (batch.length < FEWEST_INDEXED) return undefined;
  const requirement = selector.requirements.find(({ operator }) => ['=', '==', 'in'].includes(operator));
  const index = requirement && indexOf(batch, requirement.key);
  if (!requirement || !index) return undefined;
  const places = requirement.values.map((value) => index.get(value) ?? []);
  return places.length === 1 ? places[0] : places.flat().sort((a, b) => a - b);
}

function indexOf(batch: ObjectBatch, key: string): Places | undefined {
  const indexes = INDEXES.get(batch) ?? new Map<string, Places>();
  INDEXES.set(batch, indexes);
  const known = indexes.get(key);
  if (known || indexes.size >= MOST_KEYS) return known;
  const index = new Map<string, number[]>();
  batch.forEach(({ labels }, place) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (value === undefined) return;
    const places = index.get(value);
    if (places) places.push(place);
    else index.set(value, [place]);
  });
  indexes.set(key, index);
  return index;
}
