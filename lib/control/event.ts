/** What is told of an HPA. */
export interface ToldEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}
