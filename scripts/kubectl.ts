// Downloads kubectl for the demo and the acceptance specs if it is missing, and prints its path.
import { findKubectl } from '#spec/support/kubectl.ts';

console.log(await findKubectl());
