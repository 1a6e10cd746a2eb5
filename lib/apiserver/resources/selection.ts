import type { TimeSlices } from '#lib/concurrency/event-loop.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { ObjectBlock, ServedObject } from './served-object.ts';

/** Consecutive objects of a block: from `start` to before `end`. */
export interface IndexRange {
  readonly start: number;
  readonly end: number;
}

/** The selected part of one block; not empty. */
export interface SelectedBlock<Object extends ServedObject = ServedObject> {
  readonly block: readonly Object[];
  readonly ranges: readonly IndexRange[];
}

/** The selected parts of all blocks, in their order. */
export type Selection = readonly SelectedBlock[];

interface SelectOptions {
  /** A selector that every selected object matches: an index of it spares the predicate most objects. */
  readonly labelSelector?: LabelSelector;
}

/** Selects everything, or the objects that match. */
export function select(
  blocks: readonly ObjectBlock[],
  isSelected?: (object: ServedObject) => boolean,
  options: SelectOptions = {},
): Selection {
  const steps = selectionSteps(blocks, isSelected, options);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/**
 * The same in time slices: selectors of 500 requirements take seconds for tens of thousands of objects.
 *
 * @param options.requirements number of requirements of both selectors
 * @throws the signal's reason when it aborts meanwhile
 */
export async function selectInSlices(
  blocks: readonly ObjectBlock[],
  isSelected: ((object: ServedObject) => boolean) | undefined,
  options: SelectOptions & {
    readonly requirements: number;
    readonly slices: TimeSlices;
    readonly signal: () => AbortSignal;
  },
): Promise<Selection> {
  const { requirements, slices, signal } = options;
  const weight = requirements / REQUIREMENTS_AN_OBJECT;
  const steps = selectionSteps(blocks, isSelected, options);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (slices.isSliceSpent(step.value * weight)) await slices.yieldToEventLoop(signal());
  }
}

/** Evaluating this many takes as long as building or encoding one object. */
const REQUIREMENTS_AN_OBJECT = 50;

/** Counting each object would take as long as evaluating a requirement. */
const OBJECTS_PER_STEP = 32;

/** Yields, step by step, how many objects it has evaluated since the previous step. */
function* selectionSteps(
  blocks: readonly ObjectBlock[],
  isSelected: ((object: ServedObject) => boolean) | undefined,
  { labelSelector }: SelectOptions,
): Generator<number, Selection, void> {
  const selection: SelectedBlock[] = [];
  for (const block of blocks) {
    const positions = labelSelector && positionsByLabel(block, labelSelector);
    const ranges = isSelected
      ? yield* selectedRanges(block, { isSelected, positions })
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

/** Number of selected objects. */
export function countSelected(selection: Selection): number {
  let count = 0;
  for (const { ranges } of selection) for (const { start, end } of ranges) count += end - start;
  return count;
}

export function selectedObjects(selection: Selection): readonly ServedObject[] {
  return selection.flatMap(({ block, ranges }) =>
    ranges.flatMap(({ start, end }) => block.slice(start, end)),
  );
}

/** The first `limit` of the selected objects. */
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

/** @param options.positions of the objects that may match; all by default */
function* selectedRanges(
  block: ObjectBlock,
  {
    isSelected,
    positions = block.keys(),
  }: {
    readonly isSelected: (object: ServedObject) => boolean;
    readonly positions?: Iterable<number> | undefined;
  },
): Generator<number, readonly IndexRange[], void> {
  const ranges: IndexRange[] = [];
  let [start, end, tried] = [0, 0, 0];
  for (const position of positions) {
    if (++tried === OBJECTS_PER_STEP) {
      yield tried;
      tried = 0;
    }
    if (!isSelected(block[position] as ServedObject)) continue;
    if (position !== end) {
      if (start < end) ranges.push({ start, end });
      start = position;
    }
    end = position + 1;
  }
  if (start < end) ranges.push({ start, end });
  yield tried;
  return ranges;
}

/** By value of one label, ascending positions in a block of the objects that have it. */
type Positions = ReadonlyMap<string, readonly number[]>;

/** Evaluating fewer objects is faster than building an index. */
const MIN_INDEXED = 100;

/** Autoscalers select by one or two labels; for others, all objects are evaluated. */
const MAX_KEYS = 8;

const INDEXES = new WeakMap<ObjectBlock, Map<string, Positions>>();

/**
 * Ascending positions in a block of the objects that a selector may match; `undefined` for any.
 *
 * Uses the first requirement with values; the caller must evaluate the others.
 */
export function positionsByLabel(block: ObjectBlock, selector: LabelSelector): readonly number[] | undefined {
  if (block.length < MIN_INDEXED) return undefined;
  const requirement = selector.requirements.find(({ operator }) => ['=', '==', 'in'].includes(operator));
  const index = requirement && indexOf(block, requirement.key);
  if (!requirement || !index) return undefined;
  const positions = requirement.values.map((value) => index.get(value) ?? []);
  return positions.length === 1 ? positions[0] : positions.flat().sort((a, b) => a - b);
}

function indexOf(block: ObjectBlock, key: string): Positions | undefined {
  const indexes = INDEXES.get(block) ?? new Map<string, Positions>();
  INDEXES.set(block, indexes);
  const cached = indexes.get(key);
  if (cached || indexes.size >= MAX_KEYS) return cached;
  const index = new Map<string, number[]>();
  block.forEach(({ labels }, position) => {
    const value = getOwn(labels, key);
    if (value === undefined) return;
    const positions = index.get(value);
    if (positions) positions.push(position);
    else index.set(value, [position]);
  });
  indexes.set(key, index);
  return index;
}
