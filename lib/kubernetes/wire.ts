/** A type of the official client as JSON has it: what the client reads to a Date is a text there. */
export type Wire<T> = T extends Date
  ? string
  : T extends object
    ? { readonly [K in keyof T]: Wire<T[K]> }
    : T;
