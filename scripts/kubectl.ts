// Makes sure that there is a kubectl for the demo and the acceptance specs, and tells where.
import { findKubectl } from '#spec/support/kubectl.ts';

console.log(await findKubectl());
