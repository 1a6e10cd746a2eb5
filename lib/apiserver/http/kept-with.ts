/** Keeps what a function makes of an object with it: requests for the same URL have parts in common, those of a connection a user. */
export function keptWith<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const kept = new WeakMap<Of, Made>();
  return (of) => {
    let made = kept.get(of);
    if (made === undefined) {
      made = make(of);
      kept.set(of, made);
    }
    return made;
  };
}
