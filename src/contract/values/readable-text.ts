import Type from 'typebox';

/**
 * Text that is readable and that every database stores unchanged: no control characters, no unpaired surrogates, and
 * not only blanks.
 */
export function readableText(maxLength: number, more: object = {}) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: '^(?=.*\\S)[^\\p{Cc}\\p{Cs}]*$',
    explainPattern: 'must hold something besides blanks, and no control characters',
    ...more,
  });
}

/** Text of several lines that every database stores unchanged. */
export function storableText(maxLength: number, more: object = {}) {
  return Type.String({
    maxLength,
    pattern: '^[^\\u0000\\p{Cs}]*$',
    explainPattern: 'must hold neither U+0000 nor halves of characters',
    ...more,
  });
}
