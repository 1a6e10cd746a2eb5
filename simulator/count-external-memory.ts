import { setFlagsFromString } from 'node:v8';

/**
 * Has V8 count what lies outside its heap with the heap. Else every 64 MB of connections and responses are a reason to
 * mark hundreds of thousands of pods, some milliseconds with each connection: most of the time in a large cluster.
 */
export function countExternalMemory(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}
