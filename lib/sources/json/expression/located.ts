import type { Json } from '../json-value.ts';

/** A value in a document, and the way to it. */
export interface Located {
  readonly value: Json;
  /** In its parent; `undefined` for the root. */
  readonly key: string | number | undefined;
  readonly parent: Located | undefined;
}

/** What a path leads to. */
export class Nodes {
  readonly all: readonly Located[];

  constructor(all: readonly Located[]) {
    this.all = all;
  }
}

/** What operators and functions are given. */
export type Operand = Json | Nodes;

/** The value itself; of several nodes, the list of their values. */
export function plain(operand: Operand): Json {
  if (!(operand instanceof Nodes)) return operand;
  const [first, ...others] = operand.all;
  if (!first) throw new Error('a path leads to no value');
  return others.length === 0 ? first.value : operand.all.map(({ value }) => value);
}
