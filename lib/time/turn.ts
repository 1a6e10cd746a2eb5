/** As many objects as something is made of, or as are encoded, in some milliseconds. */
export const OBJECTS_A_TURN = 500;

/** Dealt with since the last turn began, by all together. */
let objects = 0;

/** Those who wait for a turn, in their order. */
const waiting: (() => void)[] = [];

/** Ends when nothing long is under way. */
let longWork: Promise<void> = Promise.resolve();

/** To be told how many objects were dealt with; says whether it is time for others, which {@link nextTurn} is for. */
export function endsTurn(dealtWith = 1): boolean {
  objects += dealtWith;
  return objects >= OBJECTS_A_TURN;
}

/**
 * Comes back when everybody else has gone on: whoever deals with many objects waits for it again and again. Of all who
 * wait it is one's turn at a time, so that many of them hold others up no longer than one does.
 *
 * @throws the signal's reason when it has aborted by then
 */
export async function nextTurn(signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(grant);
  });
  signal?.throwIfAborted();
}

/**
 * Does work of many turns when all that came before is done: what is half made of it takes as much memory as the whole.
 *
 * @throws the signal's reason when it has aborted before the work begins
 */
export function inOrder<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  const result = longWork.then(() => {
    signal?.throwIfAborted();
    return work();
  });
  longWork = result.then(
    () => {},
    () => {}, // told to whom it concerns
  );
  return result;
}

function grant(): void {
  objects = 0;
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(grant);
}
