import type { Context } from 'mocha';
import { skip } from '#spec/support/machine-programs.ts';
import { type ControlPlaneBinaries, findBinaries } from './find-binaries.ts';

/** @throws Error that tells how to get a control plane, where there is none */
export async function needBinaries(): Promise<ControlPlaneBinaries> {
  const binaries = await findBinaries();
  if (!binaries) throw new Error('There is no control plane: run make acceptance, which makes one');
  return binaries;
}

/** The same for a suite that needs controllers; skips it, and says so, where the control plane has none. */
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
