import Mocha from 'mocha';

/** Mocha's dots, and a message to the parent process with the duration of each spec file, including hooks. */
class DurationReporter extends Mocha.reporters.Dot {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    let startedAtMs = performance.now();
    const { EVENT_SUITE_BEGIN, EVENT_SUITE_END } = Mocha.Runner.constants;
    runner.on(EVENT_SUITE_BEGIN, ({ parent }) => {
      if (parent?.root) startedAtMs = performance.now();
    });
    runner.on(EVENT_SUITE_END, ({ parent, file }) => {
      if (parent?.root) process.send?.({ file, durationMs: performance.now() - startedAtMs });
    });
  }
}

export { DurationReporter as 'module.exports' }; // as require() of mocha returns it
