// Skips mutants outside the sample: Stryker calls a checker for every mutant before it tests any.
import { createHash } from 'node:crypto';
import { type Checker, type CheckResult, CheckStatus } from '@stryker-mutator/api/check';
import type { Mutant, StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, declareFactoryPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';

/** Passes a sample of the mutants, chosen by a digest of each and the seed: the same ones in each run. */
class DrawChecker implements Checker {
  readonly #drawn: { readonly sample: number; readonly seed: string };

  constructor({ drawn }: StrykerOptions) {
    this.#drawn = drawn as { sample: number; seed: string };
  }

  async init(): Promise<void> {}

  async group(mutants: Mutant[]): Promise<string[][]> {
    return [mutants.map(({ id }) => id)]; // all at once, so that they can be counted
  }

  async check(mutants: Mutant[]): Promise<Record<string, CheckResult>> {
    const inOrder = mutants.toSorted((one, other) => (this.#digest(one) < this.#digest(other) ? -1 : 1));
    return Object.fromEntries(
      inOrder.map(({ id }, index) => [
        id,
        index < this.#drawn.sample
          ? { status: CheckStatus.Passed }
          : { status: CheckStatus.CompileError, reason: 'not drawn' },
      ]),
    );
  }

  #digest({ fileName, location, replacement }: Mutant): string {
    const text = JSON.stringify([
      this.#drawn.seed,
      fileName.replace(/^.*\/lib\//, ''),
      location,
      replacement,
    ]);
    return createHash('sha256').update(text).digest('hex');
  }
}

function createChecker(options: StrykerOptions): DrawChecker {
  return new DrawChecker(options);
}
createChecker.inject = tokens(commonTokens.options);

export const strykerPlugins = [declareFactoryPlugin(PluginKind.Checker, 'draw', createChecker)];
