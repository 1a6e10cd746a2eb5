interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** Orders by `namespace/name`, as jobs of a configuration are. */
export function compareNames(one: Named, other: Named): number {
  const [left, right] = [`${one.namespace}/${one.name}`, `${other.namespace}/${other.name}`];
  return left < right ? -1 : left > right ? 1 : 0;
}
