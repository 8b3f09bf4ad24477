/** From the process to a thread; null = it ends after its current work. */
export type ToThread<Question> =
  | { readonly id: number; readonly question: Question; readonly canBeInterrupted: boolean }
  | { readonly interrupted: number }
  | null;

export type FromThread<Answer> =
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly failure: ThreadFailure }
  | { readonly notice: unknown };

/** An error of a thread: an Error itself would lose its own members on the way. */
export interface ThreadFailure {
  readonly message: string;
  /** Own members of the error, such as `code`. */
  readonly members: object;
}
