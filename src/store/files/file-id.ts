/** Ids are the names of stored contents: no other text becomes part of a path or key. */
export const FILE_ID = /^file_[0-9A-Za-z]{24}$/;

/** Throws for any other text. */
export function requireFileId(id: string): string {
  if (!FILE_ID.test(id)) throw new Error('this is no id of a file');
  return id;
}
