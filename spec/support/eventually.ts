import { Patience } from './patience.ts';

/** Yields to the event loop until a condition holds. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  const patience = new Patience();
  while (!(await holds())) {
    if (patience.isOver()) throw new Error(`It never held: ${holds}`);
    await patience.untilNextLook();
  }
}
