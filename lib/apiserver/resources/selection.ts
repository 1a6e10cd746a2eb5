import type { TimeSlices } from '#lib/concurrency/event-loop.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { ObjectBlock, ServedObject } from './served-object.ts';

/** Objects of a block that follow one another: from an index up to, but without, another. */
export interface IndexRange {
  readonly start: number;
  readonly end: number;
}

/** What is selected of one block; not empty. */
export interface SelectedBlock<Object extends ServedObject = ServedObject> {
  readonly block: readonly Object[];
  readonly ranges: readonly IndexRange[];
}

/** What is selected of all blocks, in their order. */
export type Selection = readonly SelectedBlock[];

/** What is known of the objects that are wanted. */
interface SelectOptions {
  /** What every wanted object is known to match, so that not all have to be asked about. */
  readonly labelSelector?: LabelSelector;
}

/** Selects everything, or the objects that are wanted. */
export function select(
  blocks: readonly ObjectBlock[],
  isWanted?: (object: ServedObject) => boolean,
  options: SelectOptions = {},
): Selection {
  const steps = selectionSteps(blocks, isWanted, options);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/**
 * The same, except that others go on meanwhile: selectors of 500 requirements take seconds over tens of thousands of objects.
 *
 * @param options.requirements how many there are of both selectors
 * @throws the signal's reason when it aborts meanwhile
 */
export async function selectInSlices(
  blocks: readonly ObjectBlock[],
  isWanted: ((object: ServedObject) => boolean) | undefined,
  options: SelectOptions & {
    readonly requirements: number;
    readonly slices: TimeSlices;
    readonly signal: () => AbortSignal;
  },
): Promise<Selection> {
  const { requirements, slices, signal } = options;
  const weight = requirements / REQUIREMENTS_AN_OBJECT;
  const steps = selectionSteps(blocks, isWanted, options);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (slices.isSliceSpent(step.value * weight)) await slices.yieldToEventLoop(signal());
  }
}

/** To try so many takes as long as to make or encode an object. */
const REQUIREMENTS_AN_OBJECT = 50;

/** To count each would take as long as to try a requirement. */
const OBJECTS_A_STEP = 32;

/** Tells, step by step, how many objects it has tried since the step before. */
function* selectionSteps(
  blocks: readonly ObjectBlock[],
  isWanted: ((object: ServedObject) => boolean) | undefined,
  { labelSelector }: SelectOptions,
): Generator<number, Selection, void> {
  const selection: SelectedBlock[] = [];
  for (const block of blocks) {
    const places = labelSelector && placesByLabel(block, labelSelector);
    const ranges = isWanted
      ? yield* wantedRanges(block, { isWanted, places })
      : [{ start: 0, end: block.length }];
    if (block.length > 0 && ranges.length > 0) selection.push({ block, ranges });
  }
  return selection;
}

/** Whether all of a block is selected. */
export function isWhole({ block, ranges }: SelectedBlock): boolean {
  const [first] = ranges;
  return first?.start === 0 && first.end === block.length;
}

/** How many objects are selected. */
export function countSelected(selection: Selection): number {
  let count = 0;
  for (const { ranges } of selection) for (const { start, end } of ranges) count += end - start;
  return count;
}

/** The selected objects. */
export function selectedObjects(selection: Selection): readonly ServedObject[] {
  return selection.flatMap(({ block, ranges }) =>
    ranges.flatMap(({ start, end }) => block.slice(start, end)),
  );
}

/** The first of the selected objects, so many of them. */
export function takeSelected(selection: Selection, limit: number): Selection {
  const taken: SelectedBlock[] = [];
  let left = limit;
  for (const { block, ranges } of selection) {
    const takenRanges: IndexRange[] = [];
    for (const { start, end } of ranges) {
      if (left === 0) break;
      const range = { start, end: Math.min(end, start + left) };
      left -= range.end - range.start;
      takenRanges.push(range);
    }
    if (takenRanges.length > 0) taken.push({ block, ranges: takenRanges });
  }
  return taken;
}

/** @param wanted.places where all the wanted ones are; everywhere by default */
function* wantedRanges(
  block: ObjectBlock,
  {
    isWanted,
    places = block.keys(),
  }: {
    readonly isWanted: (object: ServedObject) => boolean;
    readonly places?: Iterable<number> | undefined;
  },
): Generator<number, readonly IndexRange[], void> {
  const ranges: IndexRange[] = [];
  let [start, end, tried] = [0, 0, 0];
  for (const place of places) {
    if (++tried === OBJECTS_A_STEP) {
      yield tried;
      tried = 0;
    }
    if (!isWanted(block[place] as ServedObject)) continue;
    if (place !== end) {
      if (start < end) ranges.push({ start, end });
      start = place;
    }
    end = place + 1;
  }
  if (start < end) ranges.push({ start, end });
  yield tried;
  return ranges;
}

/** By value of one label, where in a block the objects are that have it, in their order. */
type Places = ReadonlyMap<string, readonly number[]>;

/** Fewer are looked through sooner than an index is made. */
const MIN_INDEXED = 100;

/** Autoscalers ask by one or two labels; for any others everything is looked through. */
const MAX_KEYS = 8;

const INDEXES = new WeakMap<ObjectBlock, Map<string, Places>>();

/**
 * Where in a block the objects are that a selector may match, in their order; `undefined` for anywhere.
 *
 * Goes by the first requirement that names values; the caller has to look at the others.
 */
export function placesByLabel(block: ObjectBlock, selector: LabelSelector): readonly number[] | undefined {
  if (block.length < MIN_INDEXED) return undefined;
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
  if (known || indexes.size >= MAX_KEYS) return known;
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
