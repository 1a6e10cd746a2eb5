import type { Trigger } from './trigger.ts';

/** The triggers that there are, by their types. */
export class TriggerTypes {
  readonly #byType: ReadonlyMap<string, Trigger>;

  constructor(triggers: readonly Trigger[]) {
    this.#byType = new Map(
      triggers.flatMap((trigger) => trigger.types.map((type) => [type, trigger] as const)),
    );
  }

  /** @throws an Error that names the types that there are */
  get(type: string): Trigger {
    const trigger = this.#byType.get(type);
    if (trigger) return trigger;
    const known = [...this.#byType.keys()].sort().join(', ');
    throw new Error(`no scaler found for type: ${type}; there are ${known}`);
  }
}
