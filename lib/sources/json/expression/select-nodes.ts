import { getOwn } from '#lib/kubernetes/get-own.ts';
import { isArray, isObject, type Json } from '../json-value.ts';
import type { Budget } from './budget.ts';
import type { Located } from './located.ts';
import type { Expression, Selector, Step } from './syntax.ts';

/** What selecting needs of those who evaluate expressions. */
export interface Selecting {
  readonly budget: Budget;
  /** Whether a filter lets a value through. */
  readonly isMet: (condition: Expression, node: Located) => boolean;
  /** What an expression in brackets names in a value. */
  readonly keyOf: (expression: Expression, node: Located) => Json;
}

/** Goes steps from a value: everything that these lead to, in the order of the document. */
export function selectNodes(
  start: Located,
  steps: readonly Step[],
  selecting: Selecting,
): readonly Located[] {
  let nodes: readonly Located[] = [start];
  for (const { isDeep, selectors } of steps) {
    const from = isDeep ? nodes.flatMap((node) => withDescendants(node, selecting.budget)) : nodes;
    const found: Located[] = [];
    for (const node of from)
      for (const selector of selectors)
        for (const one of selected(node, selector, selecting)) {
          selecting.budget.spend(1);
          found.push(one);
        }
    nodes = found;
  }
  return nodes;
}

/** A value and all within it, each before what is in it. */
function withDescendants(start: Located, budget: Budget): readonly Located[] {
  const found: Located[] = [];
  const waiting = [start];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    budget.spend(1);
    found.push(node);
    const within = [...children(node)];
    budget.spend(within.length / 16);
    for (const child of within.reverse()) waiting.push(child);
  }
  return found;
}

function* children(node: Located): Generator<Located> {
  const { value } = node;
  if (isArray(value))
    for (const [index, one] of value.entries()) yield { value: one, key: index, parent: node };
  else if (isObject(value))
    for (const [key, one] of Object.entries(value)) yield { value: one, key, parent: node };
}

function* selected(node: Located, selector: Selector, selecting: Selecting): Generator<Located> {
  if (selector.kind === 'all') yield* children(node);
  else if (selector.kind === 'filter') {
    for (const child of children(node)) {
      selecting.budget.spend(1);
      if (selecting.isMet(selector.condition, child)) yield child;
    }
  } else if (selector.kind === 'slice') yield* sliced(node, selector, selecting.budget);
  else {
    selecting.budget.spend(1);
    const child = member(node, keyIn(selector, node, selecting));
    if (child) yield child;
  }
}

function keyIn(
  selector: Exclude<Selector, { readonly kind: 'all' | 'filter' | 'slice' }>,
  node: Located,
  { keyOf }: Selecting,
): Json {
  if (selector.kind === 'name') return selector.name;
  return selector.kind === 'index' ? selector.index : keyOf(selector.expression, node);
}

/** A member by its name or index, counted from the end where that is negative; an array has its `length`, too. */
function member(node: Located, key: Json): Located | undefined {
  const { value } = node;
  if (isArray(value)) {
    if (key === 'length') return { value: value.length, key, parent: node };
    if (typeof key !== 'number') return undefined;
    const index = key < 0 ? value.length + key : key;
    const one = value[index];
    return one === undefined ? undefined : { value: one, key: index, parent: node };
  }
  if (!isObject(value) || typeof key !== 'string') return undefined;
  const one = getOwn(value, key);
  return one === undefined ? undefined : { value: one, key, parent: node };
}

function* sliced(
  node: Located,
  { start, end, step }: Extract<Selector, { readonly kind: 'slice' }>,
  budget: Budget,
): Generator<Located> {
  const { value } = node;
  if (!isArray(value)) return;
  const { length } = value;
  const bound = (index: number | undefined, otherwise: number) => {
    if (index === undefined) return otherwise;
    const [least, most] = step > 0 ? [0, length] : [-1, length - 1];
    return Math.min(Math.max(index < 0 ? length + index : index, least), most);
  };
  const [from, to] =
    step > 0 ? [bound(start, 0), bound(end, length)] : [bound(start, length - 1), bound(end, -1)];
  for (let index = from; step > 0 ? index < to : index > to; index += step) {
    budget.spend(1);
    const child = member(node, index);
    if (child) yield child;
  }
}
