/** As many objects as something is made of, or as are encoded, in some milliseconds. */
export const OBJECTS_A_TURN = 500;

/** Dealt with since others could last go on, by all together. */
let objects = 0;

/** Those who wait, in their order. */
const waiting: (() => void)[] = [];

/** To be told how many objects were dealt with; says whether it is time for others, which {@link nextTurn} is for. */
export function isTurnOver(dealtWith = 1): boolean {
  objects += dealtWith;
  return objects >= OBJECTS_A_TURN;
}

/**
 * Comes back when everybody else has gone on: whoever deals with many objects waits for it again and again. Of all who
 * wait it is one's turn at a time, so that many of them hold others up no longer than one does.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(grant);
  });
}

function grant(): void {
  objects = 0;
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(grant);
}
