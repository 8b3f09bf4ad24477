import Type from 'typebox';

/** Schemas of texts that several things in workspaces of the file have. */

export const readable = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^(?=.*\\S)[^\\p{Cc}\\p{Cs}]*$',
    explainPattern: 'must hold something besides blanks, and no control characters',
  });

export const keyHash = Type.String({
  pattern: '^[a-f0-9]{64}$',
  explain: 'must be the SHA-256 of a key: 64 lower-case hex digits',
});
