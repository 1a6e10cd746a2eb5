/** A channel was closed because its server sent more frames than its calls and messages need. */
export class ScalerFloodError extends Error {}
