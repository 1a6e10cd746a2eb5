// Runs mocha in Stryker. Stryker's own runner reads files that mocha 12 no longer has; this one uses mocha's public
// API.

import { glob } from 'node:fs/promises';
import {
  INSTRUMENTER_CONSTANTS,
  type InstrumenterContext,
  type StrykerOptions,
} from '@stryker-mutator/api/core';
import { commonTokens, declareFactoryPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import {
  type DryRunOptions,
  type DryRunResult,
  DryRunStatus,
  determineHitLimitReached,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  type TestRunnerCapabilities,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import Mocha from 'mocha';

/** Longer than any spec takes; Stryker ends the process of a mutant that hangs. */
const SPEC_TIMEOUT_MS = 40_000;

/** Loads the specs once and runs those that cover a mutant repeatedly. */
class MochaRunner implements TestRunner {
  readonly #context: InstrumenterContext;
  readonly #specs: readonly string[];
  readonly #mocha = new Mocha({
    reporter: ignoreResults(),
    timeout: SPEC_TIMEOUT_MS,
  }).cleanReferencesAfterRun(false);

  constructor(options: StrykerOptions) {
    const shared = globalThis as unknown as Record<string, InstrumenterContext>;
    this.#context = shared[INSTRUMENTER_CONSTANTS.NAMESPACE] ??= {};
    this.#specs = options.specs as readonly string[];
  }

  capabilities(): TestRunnerCapabilities {
    return { reloadEnvironment: false };
  }

  async init(): Promise<void> {
    for await (const file of glob([...this.#specs])) this.#mocha.addFile(file);
    await this.#mocha.loadFilesAsync();
    const context = this.#context;
    this.#mocha.rootHooks({
      beforeEach(this: Mocha.Context) {
        context.currentTestId = this.currentTest?.fullTitle() ?? '';
      },
    });
  }

  async dryRun({ coverageAnalysis }: DryRunOptions): Promise<DryRunResult> {
    const tests = await this.#run({ bail: false });
    if (coverageAnalysis === 'off') return { status: DryRunStatus.Complete, tests };
    // A changed file that no spec loads has no coverage; to Stryker, no coverage means that each spec reaches
    // everything.
    const mutantCoverage = this.#context.mutantCoverage ?? { static: {}, perTest: {} };
    return { status: DryRunStatus.Complete, tests, mutantCoverage };
  }

  async mutantRun({
    activeMutant,
    testFilter,
    hitLimit,
    disableBail,
  }: MutantRunOptions): Promise<MutantRunResult> {
    const context = this.#context;
    context.activeMutant = activeMutant.id;
    if (hitLimit === undefined) delete context.hitLimit;
    else Object.assign(context, { hitLimit, hitCount: 0 });
    const tests = await this.#run({ bail: !disableBail, only: testFilter });
    const timeout = determineHitLimitReached(context.hitCount, context.hitLimit);
    return toMutantRunResult(timeout ?? { status: DryRunStatus.Complete, tests });
  }

  #run({
    bail,
    only,
  }: {
    readonly bail: boolean;
    readonly only?: readonly string[] | undefined;
  }): Promise<TestResult[]> {
    const mocha = this.#mocha;
    mocha.suite.bail(bail);
    mocha.grep(only ? new RegExp(`^(?:${only.map(RegExp.escape).join('|')})$`) : /(?:)/);
    return new Promise((resolve) => {
      const results: TestResult[] = [];
      const identify = (test: Mocha.Test) => ({
        id: test.fullTitle(),
        name: test.fullTitle(),
        ...(test.file !== undefined && { fileName: test.file }),
        timeSpentMs: test.duration ?? 0,
      });
      mocha
        .run(() => resolve(results))
        .on('pass', (test) => results.push({ ...identify(test), status: TestStatus.Success }))
        .on('pending', (test) => results.push({ ...identify(test), status: TestStatus.Skipped }))
        .on('fail', (test, error: Error) =>
          results.push({ ...identify(test), status: TestStatus.Failed, failureMessage: error.message }),
        );
    });
  }
}

/** Results are for Stryker alone. */
function ignoreResults(): Mocha.ReporterConstructor {
  return class {
    done(failures: number, end?: (failures: number) => void) {
      end?.(failures);
    }
  } as unknown as Mocha.ReporterConstructor;
}

function createRunner(options: StrykerOptions): MochaRunner {
  return new MochaRunner(options);
}
createRunner.inject = tokens(commonTokens.options);

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'mocha-12', createRunner)];
