/** Where the key that encrypts stored secrets comes from, and what a change of it needs. */
export interface EncryptionKeyKeeper {
  /** 32 bytes, as they were when the process began. */
  readonly key: Buffer;
  /** The operator gives it at every start; else it is kept here. */
  readonly isGiven: boolean;
  /** What people call the place that it comes from: a variable or a file. */
  readonly source: string;
  /** Replaces a key that is kept here. */
  replace(key: Buffer): void;
  /** What somebody who starts in the middle of a rotation has to know; undefined when none is under way. */
  readRotation(): string | undefined;
  /** As of its return it is safe from the end of the process, and of the machine. */
  writeRotation(text: string): void;
  removeRotation(): void;
}
