/** A kubelet whose response has another status than 200. */
export class KubeletStatusError extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, text: string) {
    super(`HTTP status ${statusCode}${text === '' ? '' : `: ${text}`}`);
    this.statusCode = statusCode;
  }
}
