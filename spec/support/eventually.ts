import { WaitTimeout } from './wait-timeout.ts';

/** Yields to the event loop until a condition holds. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const timeout = new WaitTimeout();
  while (!(await condition())) {
    if (timeout.isOver()) throw new Error(`Never true: ${condition}`);
    await timeout.untilNextCheck();
  }
}
