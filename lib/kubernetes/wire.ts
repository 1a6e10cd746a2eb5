/** A type of the official client in JSON: Dates are strings. */
export type Wire<T> = T extends Date
  ? string
  : T extends object
    ? { readonly [K in keyof T]: Wire<T[K]> }
    : T;
