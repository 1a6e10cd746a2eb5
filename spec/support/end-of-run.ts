/** How long what the specs have opened may take to close behind the last of them, and how often it is looked meanwhile. */
const CLOSING_MS = 30_000;
const LOOKS = 3;

/**
 * Fails what runs while a promise is rejected that nobody waits for, which mocha would pass over; ends a run that something holds open,
 * and tells what: nobody waits for ever for a spec that leaves a server behind.
 */
export const mochaHooks = {
  beforeAll(): void {
    process.on('unhandledRejection', (reason) => {
      throw reason; // as Node has it, where nobody listens; mocha does, and takes what is thrown for a failure
    });
  },
  afterAll(): void {
    lookAgain(LOOKS);
  },
};

/** A process that stood still finds one timer past its time, though nothing holds it open: it ends before the next. */
function lookAgain(looks: number): void {
  const look = () => (looks > 1 ? lookAgain(looks - 1) : endOpenRun());
  setTimeout(look, CLOSING_MS / LOOKS).unref();
}

function endOpenRun(): void {
  const held = process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap');
  process.stderr.write(`Something that a spec has opened is open still: ${held.join(', ')}\n`);
  process.on('exit', () => {
    process.exitCode = 1; // behind mocha's own listener, which tells the failures of specs
  });
  process.exit();
}
