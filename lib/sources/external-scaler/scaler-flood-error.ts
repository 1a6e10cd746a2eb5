/** Why a channel ends whose server sends frames that belong to no call and no message. */
export class ScalerFloodError extends Error {}
