import type { Context } from 'mocha';
import { skip } from '#spec/support/machine-programs.ts';
import { type ControlPlaneBinaries, findBinaries } from './find-binaries.ts';

/** @throws Error with instructions if there is no control plane */
export async function needBinaries(): Promise<ControlPlaneBinaries> {
  const binaries = await findBinaries();
  if (!binaries) throw new Error('There is no control plane: run make acceptance, which makes one');
  return binaries;
}

/**
 * Like {@link needBinaries}, for suites that need controllers: skips the suite with a message if there is no controller
 * manager.
 */
export async function needControllers(suite: Context): Promise<ControlPlaneBinaries> {
  const binaries = await needBinaries();
  if (binaries.controllerManager === undefined) {
    skip(
      suite,
      `there is no kube-controller-manager beside ${binaries.apiServer}, so nothing is deployed or scaled`,
    );
  }
  return binaries;
}
