import { LongResponses } from '#lib/concurrency/long-responses.ts';

/** Records which owners were admitted, and counts the waiting responses. */
export class AdmittedResponses extends LongResponses {
  readonly admitted: string[] = [];
  waitingCount = 0;

  override begin(...[owner, host]: Parameters<LongResponses['begin']>) {
    const response = super.begin(owner, host);
    let permit: Promise<Disposable> | undefined;
    return {
      onLength: (bytes: number) => {
        const waiting = response.onLength(bytes);
        if (waiting && !permit) {
          permit = waiting;
          this.waitingCount++;
          waiting.then(
            () => {
              this.waitingCount--;
              this.admitted.push(owner);
            },
            () => this.waitingCount--,
          );
        }
        return waiting;
      },
      [Symbol.dispose]: () => response[Symbol.dispose](),
    };
  }
}
