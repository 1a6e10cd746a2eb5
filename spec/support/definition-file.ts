import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { NewObject } from '#simulator/objects/kubernetes-object.ts';

/** A definition with an untyped `spec`, which specs assert. */
type Definition = NewObject & { readonly spec: ReturnType<typeof JSON.parse> };

const cache = new Map<string, Definition>();

/** Reads a CustomResourceDefinition of `manifests/crds` once per process: parsing a large one takes 50 ms. */
export function readDefinition(name: string): Definition {
  const path = `manifests/crds/${name}.yaml`;
  const definition = cache.get(path) ?? parse(readFileSync(path, 'utf8'));
  cache.set(path, definition);
  return definition;
}
