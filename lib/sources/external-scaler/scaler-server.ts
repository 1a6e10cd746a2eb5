/** Where a scaler is, and how it is called. */
export interface ScalerServer {
  readonly host: string;
  readonly port: number;
  /** `undefined` for connections that are not encrypted. */
  readonly tls:
    | {
        /** PEM; by default the system's authorities are trusted. */
        readonly ca: string | undefined;
        /** PEM of a client certificate and its key. */
        readonly cert: string | undefined;
        readonly key: string | undefined;
        readonly isUnverified: boolean;
      }
    | undefined;
}
