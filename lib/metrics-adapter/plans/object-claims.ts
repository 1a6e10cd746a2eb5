/** What one HPA says of how a metric of an object is collected. */
export interface ObjectClaim {
  /** The same for the same metric of the same object, by whatever HPA. */
  readonly subject: string;
  readonly queryKey: string;
  /** When the HPA was created, in the order of time. */
  readonly createdAt: string;
}

/**
 * Who is first to say how a metric of an object is collected. A request names object and metric, but not the HPA that
 * it is for, nor, where the object is in no namespace, that HPA's namespace: two that collect it by different queries
 * would get each other's values. The HPA that was created first has its way.
 */
export class ObjectClaims {
  readonly #byOwner = new Map<string, readonly ObjectClaim[]>();
  readonly #bySubject = new Map<string, Map<string, ObjectClaim>>();

  /** Has these claims of an owner count, and no others of its. */
  put(owner: string, claims: readonly ObjectClaim[]): void {
    for (const { subject } of this.#byOwner.get(owner) ?? []) {
      const claimed = this.#bySubject.get(subject);
      claimed?.delete(owner);
      if (claimed?.size === 0) this.#bySubject.delete(subject);
    }
    this.#byOwner.delete(owner);
    if (claims.length > 0) this.#byOwner.set(owner, claims);
    for (const claim of claims) {
      const claimed = this.#bySubject.get(claim.subject) ?? new Map<string, ObjectClaim>();
      this.#bySubject.set(claim.subject, claimed.set(owner, claim));
    }
  }

  /** The owner that has its way with another query; `undefined` where this one has. */
  rivalOf(owner: string, subject: string): string | undefined {
    const claimed = this.#bySubject.get(subject);
    const own = claimed?.get(owner);
    if (!claimed || !own) return undefined;
    const [first] = [...claimed].sort(([a, { createdAt: atA }], [b, { createdAt: atB }]) =>
      atA === atB ? (a < b ? -1 : 1) : atA < atB ? -1 : 1,
    );
    return first && first[1].queryKey !== own.queryKey ? first[0] : undefined;
  }
}
