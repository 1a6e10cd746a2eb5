import type { ApiContext, Middleware } from './api-context.ts';

/** Runs one after the other, and waits for those alone that have something to wait for: most requests have nothing. */
export function inOrder(parts: readonly Middleware[]): Middleware {
  const runFrom = (first: number, context: ApiContext): Promise<void> | void => {
    for (let index = first; index < parts.length; index++) {
      const pending = parts[index]?.(context);
      if (pending) return pending.then(() => runFrom(index + 1, context));
    }
  };
  return (context) => runFrom(0, context);
}

/** Runs the second once the first is done, or has failed. */
export function lastly(first: Middleware, then: (context: ApiContext) => void): Middleware {
  return (context) => {
    let isPending = false;
    try {
      const pending = first(context);
      isPending = pending !== undefined;
      return pending?.finally(() => then(context));
    } finally {
      if (!isPending) then(context);
    }
  };
}
