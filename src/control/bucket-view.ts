/** The bucket of files, as a process that uses it finds it. */
export interface BucketView {
  readonly name: string;
  /** Why it cannot be read; null if it can. */
  readonly problem: string | null;
}
