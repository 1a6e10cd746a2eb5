/** What was sent is no review of the kind that the path is for: its sender's mistake, not one of the program. */
export class UnreadableReview extends Error {}
