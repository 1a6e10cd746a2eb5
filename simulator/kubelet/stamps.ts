import { formatTimestamp } from '../objects/kubernetes-object.ts';
import { JsonPiece } from './json-bytes.ts';

/** More distinct seconds than this are hardly told within a few minutes, by however many nodes. */
const KEPT = 20_000;

/** Stamps of whole seconds in JSON, put together once for all that tell of the same second. */
export class Stamps {
  readonly #pieces = new Map<number, JsonPiece>();

  at(epochMs: number): JsonPiece {
    const second = Math.floor(Math.trunc(epochMs) / 1000);
    return this.#pieces.get(second) ?? this.#add(second);
  }

  #add(second: number): JsonPiece {
    const piece = new JsonPiece(`"${formatTimestamp(second * 1000)}"`);
    if (this.#pieces.size >= KEPT) this.#pieces.clear();
    this.#pieces.set(second, piece);
    return piece;
  }
}
