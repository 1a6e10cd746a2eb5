export { setImmediate as nextTurn } from 'node:timers/promises';

/** Objects that something is made of, or that are encoded, in some milliseconds. */
const OBJECTS_A_TURN = 2_000;

/** Counts what was done since others could last go on, so that no long list holds everybody up. */
export class Turn {
  #objects = 0;

  /** To be told how many objects were dealt with; says whether it is time for others. */
  isOver(objects = 1): boolean {
    this.#objects += objects;
    if (this.#objects < OBJECTS_A_TURN) return false;
    this.#objects = 0;
    return true;
  }
}
