// Makes sure that there are the kubectl and the Helm that specs run: a download is no part of the time that a spec has.
import { findHelm } from '#spec/support/helm.ts';
import { findKubectlWithSwap } from '#spec/support/kubectl.ts';

await findKubectlWithSwap();
await findHelm();
