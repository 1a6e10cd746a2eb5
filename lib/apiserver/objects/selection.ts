import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { placesByLabel } from './label-index.ts';
import type { ObjectBatch, ServedObject } from './served-object.ts';

/** Objects of a batch that follow one another: from an index up to, but without, another. */
export interface Run {
  readonly start: number;
  readonly end: number;
}

/** What is selected of one batch; not empty. */
export interface SelectedBatch<Object extends ServedObject = ServedObject> {
  readonly batch: readonly Object[];
  readonly runs: readonly Run[];
}

/** What is selected of all batches, in their order. */
export type Selection = readonly SelectedBatch[];

/**
 * Selects everything, or the objects that are wanted.
 *
 * @param options.labelSelector what every wanted object is known to match, so that not all have to be asked about
 */
export function select(
  batches: readonly ObjectBatch[],
  isWanted?: (object: ServedObject) => boolean,
  options: { readonly labelSelector?: LabelSelector } = {},
): Selection {
  const { labelSelector } = options;
  const selection: SelectedBatch[] = [];
  for (const batch of batches) {
    const places = labelSelector && placesByLabel(batch, labelSelector);
    const runs = isWanted ? wantedRuns(batch, { isWanted, places }) : [{ start: 0, end: batch.length }];
    if (batch.length > 0 && runs.length > 0) selection.push({ batch, runs });
  }
  return selection;
}

/** Whether all of a batch is selected. */
export function isWhole({ batch, runs }: SelectedBatch): boolean {
  const [first] = runs;
  return first?.start === 0 && first.end === batch.length;
}

/** How many objects are selected. */
export function countSelected(selection: Selection): number {
  let count = 0;
  for (const { runs } of selection) for (const { start, end } of runs) count += end - start;
  return count;
}

/** The selected objects. */
export function selectedObjects(selection: Selection): readonly ServedObject[] {
  return selection.flatMap(({ batch, runs }) => runs.flatMap(({ start, end }) => batch.slice(start, end)));
}

/** The first of the selected objects, so many of them. */
export function takeSelected(selection: Selection, limit: number): Selection {
  const taken: SelectedBatch[] = [];
  let left = limit;
  for (const { batch, runs } of selection) {
    const takenRuns: Run[] = [];
    for (const { start, end } of runs) {
      if (left === 0) break;
      const run = { start, end: Math.min(end, start + left) };
      left -= run.end - run.start;
      takenRuns.push(run);
    }
    if (takenRuns.length > 0) taken.push({ batch, runs: takenRuns });
  }
  return taken;
}

/** @param wanted.places where all the wanted ones are; everywhere by default */
function wantedRuns(
  batch: ObjectBatch,
  {
    isWanted,
    places = batch.keys(),
  }: {
    readonly isWanted: (object: ServedObject) => boolean;
    readonly places?: Iterable<number> | undefined;
  },
): readonly Run[] {
  const runs: Run[] = [];
  let [start, end] = [0, 0];
  for (const place of places) {
    if (!isWanted(batch[place] as ServedObject)) continue;
    if (place !== end) {
      if (start < end) runs.push({ start, end });
      start = place;
    }
    end = place + 1;
  }
  if (start < end) runs.push({ start, end });
  return runs;
}
