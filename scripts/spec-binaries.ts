// Downloads kubectl and Helm for specs if they are missing, so that the download does not count as time of a spec.
import { findHelm } from '#spec/support/helm.ts';
import { findKubectlWithSwap } from '#spec/support/kubectl.ts';

await findKubectlWithSwap();
await findHelm();
