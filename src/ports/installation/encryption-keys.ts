/** The source of the key that encrypts stored secrets, and the state of its rotation. */
export interface EncryptionKeyKeeper {
  /** 32 bytes, as read at the start of the process. */
  readonly key: Buffer;
  /** True: the operator passes the key at every start. False: it is stored here. */
  readonly isGiven: boolean;
  /** Name of the variable or path of the file that it comes from, for messages. */
  readonly source: string;
  /** Replaces a key that is stored here. */
  replace(key: Buffer): void;
  /** State of an unfinished rotation, for the start that resumes it; undefined when none is under way. */
  readRotation(): string | undefined;
  /** Returns once the text survives a power loss. */
  writeRotation(text: string): void;
  removeRotation(): void;
}
