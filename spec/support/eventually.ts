/** Less than the runner gives a spec, so that a failure names the condition's place. */
const PATIENCE_MS = 90_000;

/** Lets the program and its sockets go on until a condition holds. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  const startedAtMs = performance.now();
  while (!(await holds())) {
    if (performance.now() - startedAtMs > PATIENCE_MS) throw new Error(`It never held: ${holds}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
