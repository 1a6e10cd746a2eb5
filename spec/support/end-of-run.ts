/** How long what the specs have opened may take to close behind the last of them. */
const CLOSING_MS = 30_000;

/** Ends a run that something holds open, and tells what: nobody waits for ever for a spec that leaves a server behind. */
export const mochaHooks = {
  afterAll(): void {
    setTimeout(() => {
      const held = process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap');
      process.stderr.write(`Something that a spec has opened is open still: ${held.join(', ')}\n`);
      process.on('exit', () => {
        process.exitCode = 1; // behind mocha's own listener, which tells the failures of specs
      });
      process.exit();
    }, CLOSING_MS).unref();
  },
};
