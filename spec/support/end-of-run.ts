/** How long open handles may take to close after the last spec, and how often they are checked. */
const CLOSING_MS = 30_000;
const CHECKS = 3;

/**
 * Fails a spec during which a rejection is unhandled, which mocha would ignore; ends a run that an open handle keeps alive,
 * and reports the handle, so that a spec that leaks a server does not block the run.
 */
export const mochaHooks = {
  beforeAll(): void {
    process.on('unhandledRejection', (reason) => {
      throw reason; // as Node does without a listener; mocha adds one, and reports what is thrown as a failure
    });
  },
  afterAll(): void {
    checkAgain(CHECKS);
  },
};

/** After a standstill, one timer is overdue although no handle is open: the process ends before the next one. */
function checkAgain(checks: number): void {
  const check = () => (checks > 1 ? checkAgain(checks - 1) : endOpenRun());
  setTimeout(check, CLOSING_MS / CHECKS).unref();
}

function endOpenRun(): void {
  const retained = process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap');
  process.stderr.write(`Something that a spec has opened is open still: ${retained.join(', ')}\n`);
  process.on('exit', () => {
    process.exitCode = 1; // after mocha's own listener, which sets the number of failures
  });
  process.exit();
}
